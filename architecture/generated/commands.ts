import type { Command, Option } from 'commander'
import { program } from '../../server/src/cli/program.ts'
import { loadConfig } from '../../server/src/config/config.ts'
import { code, escaped } from './markdown.ts'

/** The commands and their options, as `--help` prints them. */

/** Every command has them, or the page says what they mean. */
const described = ['--help', '--json', '--version', '--account']

const commandsOf = (command: Command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')

function usageOf(command: Command, parents: string): string {
  const required = command.options.filter(({ mandatory }) => mandatory)
  const parts = [
    ...command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`)),
    ...required.map((option) => option.flags),
  ]
  return [parents, command.name(), ...parts].filter((part) => part !== '').join(' ')
}

function optionLine(command: Command, option: Option): string {
  const help = command.createHelp()
  const text = help.optionDescription(option).replace(/ \((?:required|default: (?:none|false|""))\)/, '')
  return `  - ${code(help.optionTerm(option))}: ${escaped(text)}`
}

function itemOf(command: Command, parents: string): string {
  const help = command.createHelp()
  const choices = command.registeredArguments
    .filter((one) => one.description !== '' && one.name() !== 'resource')
    .map((one) => `  - ${code(`<${one.name()}>`)}: ${escaped(help.argumentDescription(one))}`)
  const options = help
    .visibleOptions(command)
    .filter(({ long, mandatory }) => !described.includes(long ?? '') || (long === '--account' && !mandatory))
    .map((option) => optionLine(command, option))
  return [
    `- **${code(usageOf(command, parents))}**: ${escaped(command.description())}`,
    ...choices,
    ...options,
  ].join('\n')
}

function itemsOf(command: Command, parents = ''): string[] {
  const children = commandsOf(command)
  if (children.length === 0) return [itemOf(command, parents)]
  return children.flatMap((one) => itemsOf(one, `${parents} ${command.name()}`.trim()))
}

export function commands(): string {
  const root = program(loadConfig({}))
  const groups = new Map<string, Command[]>()
  for (const command of commandsOf(root)) {
    const group = command.helpGroup().replace(/:$/, '')
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  return [...groups]
    .map(([group, list]) => `## ${group}\n\n${list.flatMap((one) => itemsOf(one)).join('\n')}`)
    .join('\n\n')
}
