import { Failure } from '../errors.ts'
import { sql } from '../sql.ts'
import { migrationNames } from '../store/migrate.ts'
import type { Store } from '../store/pool.ts'

/** How long one look at the database serves all who ask: this needs no key. */
const lookMs = 1000

/** Whether this process can answer requests: not stopping, its database there and migrated. */
export function readiness(store: Store, isStopping: () => boolean): () => Promise<{ status: 'ok' }> {
  let look: Promise<void> | undefined
  let lookedAt = 0
  return async () => {
    if (isStopping()) throw new Failure('overloaded', 'This process is stopping.')
    if (look === undefined || Date.now() - lookedAt > lookMs) {
      lookedAt = Date.now()
      look = migrated(store)
    }
    await look
    return { status: 'ok' }
  }
}

async function migrated(store: Store): Promise<void> {
  const rows = await store.read<{ name: string }>(sql`select name from migration`.statement())
  const applied = new Set(rows.map(({ name }) => name))
  if (!migrationNames.every((name) => applied.has(name))) {
    throw new Failure(
      'store_away',
      'The database is not migrated to this version: run quartermaster migrate.',
    )
  }
}
