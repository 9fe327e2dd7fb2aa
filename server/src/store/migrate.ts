import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import type pg from 'pg'
import { withClient } from './client.ts'

const folder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The names of all migrations this build brings, in order. */
export const migrationNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
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
    const { rows } = await client.query<{ encoding: string; version: number; name: string }>(
      `select getdatabaseencoding() as encoding, current_setting('server_version_num')::int as version,
              current_database() as name`,
    )
    const [database] = rows
    if (database === undefined) return
    if (database.version < 150_000) {
      throw new Error(
        `This is PostgreSQL ${Math.floor(database.version / 10_000)}; Quartermaster needs 15 or later.`,
      )
    }
    if (database.encoding !== 'UTF8' || !(await foldsCase(client))) {
      throw new Error(
        `The database ${database.name} does not fold the case of all letters (encoding ${database.encoding}). ` +
          `Make it with: create database ${database.name} template template0 encoding 'UTF8' locale 'C.UTF-8'`,
      )
    }
  })
}

/** Asked of UTF-8 only: another encoding may have no such letters, and then refuses the question. */
export async function foldsCase(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ folds: boolean }>(
    `select lower('ÉЖ' collate "default") = 'éж' as folds`,
  )
  return rows[0]?.folds === true
}

async function letServerSeeMigrations(url: string): Promise<void> {
  await withClient(url, (client) => client.query('grant select on migration to quartermaster_server'))
}
