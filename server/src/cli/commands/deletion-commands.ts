import { type Command, Option } from 'commander'
import type { Config } from '../../config/config.ts'
import { limits } from '../../limits/limits.ts'
import { parseOverlap } from '../arguments.ts'
import type { DeleteOptions } from './deletion-command.ts'

/** `account delete` and `account purge`. */
export function addDeletionCommands(command: Command, config: Config): void {
  const json = () => new Option('--json', 'print one line of JSON')
  command
    .command('delete <name>')
    .description('suspend an account, and delete it when its grace period ends')
    .addOption(
      new Option('--grace <time>', 'time until then: 30d, 12h; `account activate` cancels it')
        .argParser(parseOverlap)
        .default(limits.deletionGraceDays * 86_400, `${limits.deletionGraceDays}d`),
    )
    .addOption(new Option('--now', 'delete it now, or continue its deletion').conflicts('grace'))
    .option('--yes <name>', "the account's name again, required with --now")
    .addOption(json())
    .action(async (name: string, options: DeleteOptions) => {
      const { accountDelete } = await import('./deletion-command.ts')
      await accountDelete(config, name, options)
    })
  command
    .command('purge')
    .description('delete accounts whose grace period has ended, and continue interrupted deletions')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { accountPurge } = await import('./deletion-command.ts')
      await accountPurge(config, options)
    })
}
