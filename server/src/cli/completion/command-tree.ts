import type { Command } from 'commander'

/** A command as `--help` shows it: what completion and the man page are generated from. */
export interface CommandNode {
  /** `account create`; empty for the program. */
  readonly path: string
  readonly group: string
  readonly description: string
  /** `<name>`, `[file]` */
  readonly arguments: readonly ArgumentNode[]
  readonly options: readonly OptionNode[]
  readonly children: readonly CommandNode[]
}

export interface ArgumentNode {
  readonly term: string
  readonly description: string
  readonly choices: readonly string[]
}

export interface OptionNode {
  /** `-c, --set <name=value>` */
  readonly term: string
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  readonly isRequired: boolean
  readonly choices: readonly string[]
}

export function commandTree(command: Command, parents: readonly string[] = []): CommandNode {
  const help = command.createHelp()
  const path = parents.join(' ')
  return {
    path,
    group: command.helpGroup().replace(/:$/, ''),
    description: command.description(),
    arguments: command.registeredArguments.map((one) => ({
      term: one.required ? `<${one.name()}>` : `[${one.name()}]`,
      description: one.description,
      choices: one.argChoices ?? [],
    })),
    options: help.visibleOptions(command).map((option) => ({
      term: help.optionTerm(option),
      names: [option.short, option.long].filter((name) => name !== undefined && name !== null),
      description: help.optionDescription(option),
      takesValue: option.required || option.optional,
      isRequired: option.mandatory,
      choices: option.argChoices ?? [],
    })),
    children: help
      .visibleCommands(command)
      .filter((child) => child.name() !== 'help')
      .map((child) => commandTree(child, [...parents, child.name()])),
  }
}

/** The command and all below it. */
export function allCommands(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(allCommands)]
}
