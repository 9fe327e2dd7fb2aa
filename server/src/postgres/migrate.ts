import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import type pg from 'pg'
import { limits } from '../limits.ts'
import { withClient } from './client.ts'
import { isAnotherMigration, isLockFailure, LockWatch, retryDelayMs } from './migration-lock.ts'

const folder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The names of all migrations this build brings, in order. */
export const migrationNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => file.slice(0, -'.sql'.length))

export interface MigrateOptions {
  readonly log?: (line: string) => void
  /** How many of the pending migrations to apply. */
  readonly count?: number
  readonly lockMs?: number
  readonly tries?: number
  readonly retryMsMin?: number
}

/**
 * Applies what is pending, each in a transaction, one process at a time. Returns the names of what was applied.
 *
 * While a migration waits for a lock, every statement on that table queues behind it. So it waits only briefly, gives up,
 * lets the others pass and tries again.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  await refuseUnfitDatabase(url)
  return await withClient(url, async (watching) => {
    const before = await appliedMigrations(watching)
    await applyPending(url, watching, { ...options, count: options.count ?? Number.POSITIVE_INFINITY })
    await letServerSeeMigrations(watching)
    const known = new Set(before)
    return (await appliedMigrations(watching)).filter((name) => !known.has(name))
  })
}

async function applyPending(
  url: string,
  watching: pg.Client,
  { count, log = () => {}, ...options }: MigrateOptions & { readonly count: number },
): Promise<void> {
  const { lockMs, tries, retryMsMin } = {
    lockMs: limits.migrateLockMsMax,
    tries: limits.migrateTriesMax,
    retryMsMin: limits.migrateRetryMsMin,
    ...options,
  }
  const watch = new LockWatch(watching, log)
  const goal = (await appliedMigrations(watching)).length + count
  for (let tried = 1; ; tried++) {
    const left = goal - (await appliedMigrations(watching)).length
    try {
      await attempt(url, { count: left, lockMs, log, watch })
      return
    } catch (error) {
      if (!isLockFailure(error)) throw error
      const another = isAnotherMigration(error)
      if (tried >= tries) throw await lockFailure(watching, { watch, tries, lockMs, another, error })
      const delayMs = retryDelayMs(tried, retryMsMin)
      const why = another
        ? 'Another process migrates this database.'
        : `Gave up after ${lockMs / 1000} s, so that requests do not queue behind the migration.`
      log(`${why} Next try in ${(delayMs / 1000).toFixed(1)} s (${tried + 1} of ${tries}).`)
      await sleep(delayMs)
    }
  }
}

interface Attempt {
  readonly count: number
  readonly lockMs: number
  readonly log: (line: string) => void
  readonly watch: LockWatch
}

/** On a connection of its own: one whose transaction failed is of no use for the next. */
async function attempt(url: string, { count, lockMs, log, watch }: Attempt): Promise<void> {
  const complaints: string[] = []
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      `select pg_backend_pid() as pid, set_config('lock_timeout', $1, false)`,
      [String(lockMs)],
    )
    const running = runner({
      dbClient: client,
      dir: folder,
      direction: 'up',
      migrationsTable: 'migration',
      count,
      checkOrder: true,
      singleTransaction: false,
      logger: {
        info: () => {},
        warn: (line) => complaints.push(line),
        error: (line) => complaints.push(line),
        debug: () => {},
      },
    })
    try {
      await watch.during(rows[0]?.pid ?? 0, running)
    } catch (error) {
      if (!isLockFailure(error)) for (const line of complaints) log(line)
      throw error
    }
  })
}

async function lockFailure(
  client: pg.Client,
  given: {
    readonly watch: LockWatch
    readonly tries: number
    readonly lockMs: number
    readonly another: boolean
    readonly error: unknown
  },
): Promise<Error> {
  const applied = new Set(await appliedMigrations(client))
  const name = migrationNames.find((one) => !applied.has(one)) ?? 'The migration'
  const cause = { cause: given.error }
  if (given.another) {
    return new Error(
      `${name} was not applied: another process migrates this database. Run quartermaster migrate again when it has ended.`,
      cause,
    )
  }
  const lock = given.watch.last ?? 'a lock that another session holds'
  return new Error(
    `${name} was not applied: ${given.tries} times it waited ${given.lockMs / 1000} s for ${lock}. Nothing of it is in the database, and ` +
      'requests are served as before. Wait until that transaction has ended, or end it with select pg_terminate_backend(PROCESS); ' +
      'then run quartermaster migrate again.',
    cause,
  )
}

/** Those that the database has, in the order in which they were applied. */
export async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    `select to_regclass('migration') is not null as there`,
  )
  if (tables[0]?.there !== true) return []
  const { rows } = await client.query<{ name: string }>('select name from migration order by id')
  return rows.map(({ name }) => name)
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

/** Also where an earlier run ended between its last migration and this. */
async function letServerSeeMigrations(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sees: boolean }>(
    `select has_table_privilege('quartermaster_server', 'migration', 'select') as sees`,
  )
  if (rows[0]?.sees !== true) await client.query('grant select on migration to quartermaster_server')
}
