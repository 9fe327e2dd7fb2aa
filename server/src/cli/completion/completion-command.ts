import { Argument, type Command } from 'commander'
import { type Shell, shells } from './shells.ts'

/** `completion`, whose script has all commands of the program. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(async (shell: Shell) => {
      const { commandTree } = await import('./command-tree.ts')
      const { completionScript } = await import('./completion-scripts.ts')
      process.stdout.write(completionScript(shell, commandTree(program)))
    })
}
