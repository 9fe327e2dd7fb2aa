import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { resources } from '../../../server/src/catalog/resources.ts'
import type { ImportRow } from '../../../server/src/import/net-effect.ts'
import { ImportSession } from '../../../server/src/import/session.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { rowParts } from '../../../server/test/row-parts.ts'
import { type Fixture, sharedFixture } from '../ratios/fixture.ts'

/** One account with a million products, half of which match `half`. */
export const changesFixture = sharedFixture('changes', (context) => ({
  records: context.size(1_000_000, 100_000),
  accounts: 1,
}))

/** Settings of serving connections. */
export const servingSettings =
  'set enable_seqscan = off; set max_parallel_workers_per_gather = 0; set jit = off'

/** CPU time of the backend of a connection so far, in ms, from the scheduler's nanoseconds. */
export async function backendCpu(client: pg.ClientBase): Promise<() => number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const file = `/proc/${rows[0]?.pid}/schedstat`
  return () => Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6
}

let changes = 0

/** Changes the names of `count` products in one write. */
export async function changeNames(client: Connection, { large }: Fixture, records: number, count: number) {
  const session = await ImportSession.open(client, { accountId: large.id }, resources.product, {
    trackIds: false,
    mode: 'load',
  })
  await session.write(rowParts(anyIds(records, count).map((id) => nameRow(id, `changed ${++changes}`))))
}

/** Different ids from 1 to `records`. */
export function anyIds(records: number, count: number): number[] {
  const ids = new Set<number>()
  while (ids.size < count) ids.add(1 + Math.floor(Math.random() * records))
  return [...ids]
}

/** A row of an import with an id and a name. */
export function nameRow(id: number, name: string): ImportRow {
  return resources.product.fields.map((field) => {
    if (field.name === 'id') return String(id)
    return field.name === 'name' ? name : undefined
  })
}
