import { type Command, Option } from 'commander'
import type { Config } from '../../config/config.ts'
import { collectSetting } from '../arguments.ts'
import { addDistributeCommand } from './distribute-command.ts'

const json = () => new Option('--json', 'print one line of JSON')

/** The commands about the database itself. */
export function addDatabaseCommands(command: Command, config: Config): void {
  command
    .command('migrate')
    .description('apply pending migrations to the database')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { migrateCommand } = await import('../commands/migrate-command.ts')
      await migrateCommand(config, options)
    })

  addDistributeCommand(command, config)

  command
    .command('postgres')
    .description(
      'start a temporary PostgreSQL for development and tests; with --json it stops when stdin is closed',
    )
    .addOption(
      new Option('-c, --set <name=value>', 'PostgreSQL setting, such as work_mem=64MB; can be repeated')
        .argParser(collectSetting)
        .default({}, 'none'),
    )
    .addOption(json())
    .action(async (options: { json?: boolean; set: Record<string, string> }) => {
      const { postgresCommand } = await import('../commands/postgres-command.ts')
      await postgresCommand(options)
    })
}
