import { Failure } from '../errors.ts'
import type { Database } from '../postgres/database.ts'
import { migrationNames } from '../postgres/migrate.ts'
import { placeholder, sql } from '../sql.ts'
import { epoch } from '../tally-state.ts'

interface AppliedRow {
  readonly epoch: string
  /** Names without commas, separated by commas. */
  readonly names: string | null
}

/**
 * On the connections that every request needs first, so that it fails when requests fail and waits for no long read. The
 * epoch is there because only a primary has one.
 */
const applied =
  sql`select ${epoch} as epoch, (select string_agg(name, ',') from migration) as names`.template(
    [placeholder()],
    'other',
    'pipelined',
  )

/** Whether this process can answer requests: not stopping, its database there, a primary, and migrated. */
export function readiness(
  database: Database,
  isStopping: () => boolean,
  cacheMs: number,
): () => Promise<{ status: 'ok' }> {
  let looking: Promise<void> | undefined
  let outcome: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (isStopping()) throw new Failure('overloaded', 'This process is stopping.')
    // One look at a time, and at most one a second: this needs no key.
    if (looking === undefined && performance.now() - lookedAt > cacheMs) {
      lookedAt = performance.now()
      outcome = looking = migrated(database).finally(() => {
        looking = undefined
      })
      outcome.catch(() => {})
    }
    await outcome
    if (database.primary.fault !== undefined) throw database.primary.fault
    return { status: 'ok' }
  }
}

async function migrated(database: Database): Promise<void> {
  const [row] = await database.read<AppliedRow>(applied([]))
  const names = new Set(row?.names?.split(','))
  const pending = migrationNames.filter((name) => !names.has(name))
  if (pending.length > 0) {
    throw new Failure(
      'database_unavailable',
      `The database is not migrated to this version: run quartermaster migrate. Pending: ${pending.join(', ')}.`,
    )
  }
}
