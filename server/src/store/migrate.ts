import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import { Failure } from '../errors.ts'
import { withClient } from './client.ts'

const folder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The names of all migrations this build brings, in order. */
export const migrationNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => file.slice(0, -'.sql'.length))

/** Applies what is pending, each in a transaction, one process at a time. Returns the names of what was applied. */
export async function migrate(url: string, log: (line: string) => void = () => {}): Promise<string[]> {
  await refuseUnfitDatabase(url)
  const applied = await runner({
    databaseUrl: url,
    dir: folder,
    direction: 'up',
    migrationsTable: 'migration',
    count: Number.POSITIVE_INFINITY,
    checkOrder: true,
    singleTransaction: false,
    logger: { info: () => {}, warn: log, error: log, debug: () => {} },
  })
  if (applied.length > 0) await letServerSeeMigrations(url)
  return applied.map((migration) => migration.name)
}

/** "Contains" folds case by the database's ctype; one that knows only ASCII would miss É for é, for ever. */
async function refuseUnfitDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ encoding: string; folds: boolean; version: number; name: string }>(
      `select getdatabaseencoding() as encoding, lower('ÉЖ' collate "default") = 'éж' as folds,
              current_setting('server_version_num')::int as version, current_database() as name`,
    )
    const database = rows[0]
    if (database === undefined) return
    if (database.version < 150_000) {
      throw new Failure(
        'internal',
        `This is PostgreSQL ${Math.floor(database.version / 10_000)}; Quartermaster needs 15 or later.`,
      )
    }
    if (database.encoding !== 'UTF8' || !database.folds) {
      throw new Failure(
        'internal',
        `The database ${database.name} does not fold the case of all letters (encoding ${database.encoding}). ` +
          `Make it with: create database ${database.name} template template0 encoding 'UTF8' locale 'C.UTF-8'`,
      )
    }
  })
}

async function letServerSeeMigrations(url: string): Promise<void> {
  await withClient(url, (client) => client.query('grant select on migration to quartermaster_server'))
}
