import { type Config, writeRoleOf } from '../../config/config.ts'
import { distribute } from '../../postgres/citus/distribute.ts'
import { appliedMigrations, migrationNames } from '../../postgres/migrations/migrate.ts'
import { printJson, printLine } from '../print.ts'
import { asOwner } from './owner.ts'

export async function distributeCommand(
  config: Config,
  { json, shards }: { readonly json?: boolean; readonly shards?: number },
): Promise<void> {
  const roles = [...new Set([config.QUARTERMASTER_DATABASE_ROLE, writeRoleOf(config)])].filter(
    (role) => role !== '',
  )
  const distributed = await asOwner(config, async (client) => {
    const applied = new Set(await appliedMigrations(client))
    if (migrationNames.some((name) => !applied.has(name)))
      throw new Error('Migrations are pending. Run quartermaster migrate first.')
    return await distribute(client, { roles, shards })
  })
  if (json === true) printJson({ distributed })
  else if (distributed.length === 0) printLine('All tables are distributed already.')
  else for (const name of distributed) printLine(`distributed ${name}`)
}
