import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import type pg from 'pg'
import { backoff, withJitter } from '../../backoff.ts'
import { limits } from '../../limits/limits.ts'
import { foldingDatabase, foldingFault } from '../case-folding.ts'
import { withClient } from '../client.ts'
import { inTransaction } from '../transaction.ts'
import { isConcurrentMigration, isLockFailure, LockMonitor } from './migration-lock.ts'
import { loaders } from './migration-statements.ts'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))

/** The names of all migrations of this build, in order. */
export const migrationNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => file.slice(0, -'.sql'.length))

export interface MigrateOptions {
  readonly log?: (line: string) => void
  /** The number of pending migrations to apply. Default: all. */
  readonly count?: number
  readonly lockMs?: number
  readonly tries?: number
  readonly retryMsMin?: number
}

/**
 * Applies the pending migrations, each in its own transaction, one process at a time. Returns the names of those applied.
 *
 * While a migration waits for a lock, every statement on that table queues behind it. Therefore it waits for a short
 * time only, then lets the queued statements run and tries again.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  await rejectUnsupportedDatabase(url)
  return await withClient(url, async (monitor) => {
    const before = new Set(await appliedMigrations(monitor))
    await applyPending(url, monitor, { ...options, count: options.count ?? Number.POSITIVE_INFINITY })
    await grantReadOfMigrations(monitor)
    const lines = await inTransaction(monitor, () => monitor.layout.afterMigrations(monitor))
    for (const line of lines) options.log?.(line)
    return (await appliedMigrations(monitor)).filter((name) => !before.has(name))
  })
}

async function applyPending(
  url: string,
  monitor: pg.Client,
  { count, log = () => {}, ...options }: MigrateOptions & { readonly count: number },
): Promise<void> {
  const { lockMs, tries, retryMsMin } = {
    lockMs: limits.migrateLockMsMax,
    tries: limits.migrateTriesMax,
    retryMsMin: limits.migrateRetryMsMin,
    ...options,
  }
  const lockMonitor = new LockMonitor(monitor, log)
  const goal = (await appliedMigrations(monitor)).length + count
  for (let tried = 1; ; tried++) {
    const remaining = goal - (await appliedMigrations(monitor)).length
    try {
      await attempt(url, { count: remaining, lockMs, log, lockMonitor })
      return
    } catch (error) {
      if (!isLockFailure(error)) throw error
      const isConcurrent = isConcurrentMigration(error)
      if (tried >= tries)
        throw await lockFailure(monitor, { lockMonitor, tries, lockMs, isConcurrent, error })
      const delayMs = withJitter(backoff(tried, retryMsMin, limits.migrateRetryMsMax))
      const reason = isConcurrent
        ? 'Another process is migrating this database.'
        : `Timed out after ${lockMs / 1000} s, so that requests do not queue behind the migration.`
      log(`${reason} Next try in ${(delayMs / 1000).toFixed(1)} s (${tried + 1} of ${tries}).`)
      await sleep(delayMs)
    }
  }
}

interface Attempt {
  readonly count: number
  readonly lockMs: number
  readonly log: (line: string) => void
  readonly lockMonitor: LockMonitor
}

/** Opens a new connection, because the transaction of the previous attempt may have failed. */
async function attempt(url: string, { count, lockMs, log, lockMonitor }: Attempt): Promise<void> {
  const warnings: string[] = []
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      `select pg_backend_pid() as pid, set_config('lock_timeout', $1, false)`,
      [String(lockMs)],
    )
    const running = runner({
      dbClient: client,
      dir: folder,
      migrationLoaderStrategies: loaders,
      direction: 'up',
      migrationsTable: 'migration',
      count,
      checkOrder: true,
      singleTransaction: false,
      logger: {
        info: () => {},
        warn: (line) => warnings.push(line),
        error: (line) => warnings.push(line),
        debug: () => {},
      },
    })
    try {
      await lockMonitor.during(rows[0]?.pid ?? 0, running)
    } catch (error) {
      if (!isLockFailure(error)) for (const line of warnings) log(line)
      throw error
    }
  })
}

async function lockFailure(
  client: pg.Client,
  failed: {
    readonly lockMonitor: LockMonitor
    readonly tries: number
    readonly lockMs: number
    readonly isConcurrent: boolean
    readonly error: unknown
  },
): Promise<Error> {
  const applied = new Set(await appliedMigrations(client))
  const name = migrationNames.find((migration) => !applied.has(migration)) ?? 'The migration'
  const cause = { cause: failed.error }
  if (failed.isConcurrent) {
    return new Error(
      `${name} was not applied: another process is migrating this database. Run quartermaster migrate again when it has ended.`,
      cause,
    )
  }
  const lock = failed.lockMonitor.last ?? 'a lock that another session holds'
  return new Error(
    `${name} was not applied: ${failed.tries} times it waited ${failed.lockMs / 1000} s for ${lock}. This migration changed nothing, and ` +
      'requests are served as before. Wait until that transaction has ended, or end it with select pg_terminate_backend(PROCESS); ' +
      'then run quartermaster migrate again.',
    cause,
  )
}

/** In the order in which they were applied. */
export async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `select to_regclass('migration') is not null as exists`,
  )
  if (tables[0]?.exists !== true) return []
  const { rows } = await client.query<{ name: string }>('select name from migration order by id')
  return rows.map(({ name }) => name)
}

/** "Contains" ignores case by the database's collation. With an ASCII-only ctype, É would never match é. */
async function rejectUnsupportedDatabase(url: string): Promise<void> {
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
    const fault =
      database.encoding === 'UTF8'
        ? await foldingFault(client)
        : `has the encoding ${database.encoding}, not UTF8`
    if (fault !== undefined) {
      throw new Error(
        `The database ${database.name} ${fault}. Nothing was changed. Create another one: ${foldingDatabase(`${database.name}_utf8`)}`,
      )
    }
  })
}

/** Runs even if no migration is pending: an earlier run may have ended before this grant. */
async function grantReadOfMigrations(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string }>(
    `select rolname as role from pg_roles where rolname in ('quartermaster_server', 'quartermaster_writer')
        and not has_table_privilege(oid, 'migration', 'select')`,
  )
  for (const { role } of rows) await client.query(`grant select on migration to ${role}`)
}
