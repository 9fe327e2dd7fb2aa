import type { FastifyInstance } from 'fastify'
import { Failure } from '../errors.ts'
import { sql } from '../sql.ts'
import { migrationNames } from '../store/migrate.ts'
import type { Store } from '../store/pool.ts'

/** How long one look at the database serves all who ask: these paths need no key. */
const lookMs = 1000

/** `/livez`: the process runs. `/readyz`: it can answer requests: not stopping, database there and migrated. */
export function healthRoutes(app: FastifyInstance, store: Store, isStopping: () => boolean): void {
  let look: Promise<void> | undefined
  let lookedAt = 0
  app.get('/livez', { config: { open: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { open: true } }, async () => {
    if (isStopping()) throw new Failure('overloaded', 'This process is stopping.')
    if (look === undefined || Date.now() - lookedAt > lookMs) {
      lookedAt = Date.now()
      look = migrated(store)
    }
    await look
    return { status: 'ok' }
  })
}

async function migrated(store: Store): Promise<void> {
  const applied = new Set(
    (await store.read<{ name: string }>(sql`select name from migration`.statement())).map((m) => m.name),
  )
  const pending = migrationNames.filter((name) => !applied.has(name))
  if (pending.length > 0) {
    throw new Failure(
      'store_away',
      'The database is not migrated to this version: run quartermaster migrate.',
    )
  }
}
