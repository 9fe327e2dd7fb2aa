import { type Command, Option } from 'commander'
import { type Config, servingRolesOf } from '../../config/config.ts'
import { limits } from '../../limits/limits.ts'
import { integerBetween } from '../arguments.ts'
import { printJson, printLine } from '../print.ts'
import { asOwner } from './owner.ts'

interface DistributeOptions {
  readonly json?: boolean
  readonly shards?: number
}

export function addDistributeCommand(command: Command, config: Config): void {
  command
    .command('distribute')
    .description('distribute the tables over the workers of a Citus cluster, by account')
    .addOption(
      new Option('--shards <count>', 'shards of each table (default: citus.shard_count)').argParser(
        integerBetween(1, limits.shardsMax),
      ),
    )
    .option('--json', 'print one line of JSON')
    .action((options: DistributeOptions) => distributeTables(config, options))
}

async function distributeTables(config: Config, { json, shards }: DistributeOptions): Promise<void> {
  const { distribute } = await import('../../citus/distribute.ts')
  const { appliedMigrations, migrationNames } = await import('../../postgres/migrations/migrate.ts')
  const distributed = await asOwner(config, async (client) => {
    const applied = new Set(await appliedMigrations(client))
    if (migrationNames.some((name) => !applied.has(name)))
      throw new Error('Migrations are pending. Run quartermaster migrate first.')
    return await distribute(client, { roles: servingRolesOf(config), shards })
  })
  if (json === true) printJson({ distributed })
  else if (distributed.length === 0) printLine('All tables are distributed already.')
  else for (const name of distributed) printLine(`distributed ${name}`)
}
