import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import { ownerUrl } from '../database/owner.ts'

interface RestoreOptions {
  as?: string
  replace?: boolean
  keys: boolean
  json?: boolean
}

/** `account export` and `account restore`. Their module is imported when one of them runs. */
export function addArchiveCommands(command: Command, config: Config): void {
  command
    .command('export <name>')
    .description(
      'write an account with its keys, as hashes, and all its records to stdout, from one snapshot',
    )
    .action(async (name: string) => {
      const { accountExport } = await import('./archive-command.ts')
      // The exit code if the reader closes the pipe, which ends the process before the export is complete.
      process.exitCode = 1
      process.exitCode = await accountExport(ownerUrl(config).url, name, process)
    })
  command
    .command('restore')
    .description('restore an account from an account export, in one transaction')
    .argument('<file>', 'file to restore, or - for standard input')
    .option('--as <name>', 'name of the account (default: as in the file)')
    .option('--replace', 'if the account exists, replace its records')
    .option('--no-keys', 'restore no keys')
    .option('--json', 'print one line of JSON')
    .action(async (file: string, { as, ...options }: RestoreOptions) => {
      const { accountRestore } = await import('./archive-command.ts')
      const parameters = { replace: false, json: false, ...options, name: as }
      process.exitCode = await accountRestore(ownerUrl(config).url, file, parameters, process)
    })
}
