import { Failure } from '../errors/errors.ts'
import type { Database } from '../postgres/database.ts'
import { migrationNames } from '../postgres/migrations/migrate.ts'
import { placeholder, sql } from '../sql.ts'
import { epochColumn } from '../tally-state.ts'

interface AppliedRow {
  readonly epoch: string
  /** Separated by commas. */
  readonly names: string | null
}

/**
 * Runs on the pipelined connections, which every request needs first: it fails when requests fail, and does not wait for
 * long reads. It reads the epoch because that fails on a standby.
 */
const applied = sql`select ${epochColumn}, (select string_agg(name, ',') from migration) as names`.template(
  [placeholder()],
  'other',
  'pipelined',
)

/** Checks that this process can serve requests: it is not stopping, and its database is a reachable, migrated primary. */
export function readiness(
  database: Database,
  stopping: AbortSignal,
  cacheMs: number,
): () => Promise<{ status: 'ok' }> {
  let inFlight: Promise<void> | undefined
  let result: Promise<void> | undefined
  let checkedAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (stopping.aborted) throw new Failure('overloaded', 'This process is stopping.')
    // One check at a time, and at most one per `cacheMs`: anybody can request it without a key.
    if (inFlight === undefined && performance.now() - checkedAt > cacheMs) {
      checkedAt = performance.now()
      result = inFlight = checkMigrations(database).finally(() => {
        inFlight = undefined
      })
      result.catch(() => {})
    }
    await result
    if (database.primary.fault !== undefined) throw database.primary.fault
    return { status: 'ok' }
  }
}

async function checkMigrations(database: Database): Promise<void> {
  const [row] = await database.read<AppliedRow>(applied([]))
  const names = new Set(row?.names?.split(','))
  const pending = migrationNames.filter((name) => !names.has(name))
  if (pending.length > 0) {
    throw new Failure(
      'database_unavailable',
      `The database schema is not up to date: run quartermaster migrate. Pending: ${pending.join(', ')}.`,
    )
  }
}
