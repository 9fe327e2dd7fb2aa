import { beforeEach, expect, it } from 'vitest'
import { write } from '../../server/test/changes-fixture.ts'
import { account } from '../../server/test/database.ts'
import { eventually } from '../../server/test/eventually.ts'
import { freshService } from '../../server/test/service.ts'
import { type Change, CursorExpired, type Product, Quartermaster, RequestInvalid } from '../src/index.ts'

/** Changes, watch and sync of the client against the real service. */

/** Changes how the next responses are received. */
let interfere: ((input: string, send: () => Promise<Response>) => Promise<Response>) | undefined

const environment = { QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' }
const { client: database, service } = await freshService(environment, { feedCheckMs: 50 })
const acme = await account(database, 'acme')
const qm = new Quartermaster({
  baseUrl: `http://127.0.0.1:${service.port}`,
  apiKey: acme.key,
  retryForMs: 0,
  fetch: (input, init) => {
    const send = () => fetch(input, init)
    return interfere === undefined
      ? send()
      : interfere(String(input instanceof Request ? input.url : input), send)
  },
})

beforeEach(async () => {
  interfere = undefined
  const { rows } = await database.query<{ id: string }>('select id from product where account_id = $1', [
    acme.accountId,
  ])
  await write(database, acme, { delete: rows.map(({ id }) => Number(id)) })
})

const summary = ({ change, id }: Change<unknown>) => `${change} ${id}`

async function table(): Promise<Map<number, string>> {
  const { rows } = await database.query<{ id: string; name: string }>(
    'select id, name from product where account_id = $1 order by id',
    [acme.accountId],
  )
  return new Map(rows.map(({ id, name }) => [Number(id), name]))
}

/** All values, and the value that the generator returns. */
async function collect<T, R>(generator: AsyncGenerator<T, R>): Promise<[T[], R]> {
  const values: T[] = []
  for (;;) {
    const next = await generator.next()
    if (next.done === true) return [values, next.value]
    values.push(next.value)
  }
}

it('changes: every record, then what has changed since the cursor that it returns', async () => {
  await write(database, acme, { upsert: { 1: 'one', 2: 'two', 3: 'three' } })
  const [all, cursor] = await collect(qm.products.changes({ fields: ['name'], limit: 2 }))
  expect(all.map(summary)).toEqual(['created 1', 'created 2', 'created 3'])
  expect(all.map((change) => ('record' in change ? change.record.name : undefined))).toEqual([
    'one',
    'two',
    'three',
  ])
  await write(database, acme, { upsert: { 2: 'TWO' }, delete: [1] })
  const [next] = await collect(
    qm.products.changes({ since: cursor, filter: (product) => product.id.gt(0) }),
  ).catch((error: unknown) => [[error]])
  expect(next).toEqual([expect.any(RequestInvalid)])
  const [rest] = await collect(qm.products.changes({ since: cursor }))
  expect(rest.map(summary)).toEqual(['deleted 1', 'updated 2'])
})

it('changes: the cursor of each change leads to all that follow it', async () => {
  const [, start] = await collect(qm.products.changes({ since: 'now' }))
  await write(database, acme, { upsert: { 1: 'one', 2: 'two', 3: 'three', 4: 'four', 5: 'five' } })
  const [all] = await collect(qm.products.changes({ since: start, limit: 2 }))
  expect(all.map(summary)).toEqual(['created 1', 'created 2', 'created 3', 'created 4', 'created 5'])
  for (const [i, { cursor }] of all.entries()) {
    const [rest] = await collect(qm.products.changes({ since: cursor }))
    expect(rest.map(({ id }) => id)).toEqual(expect.arrayContaining(all.slice(i + 1).map(({ id }) => id)))
  }
})

it('changes: waits for the first change', async () => {
  const waiting = collect(qm.products.changes({ since: 'now', wait: 30 }))
  await eventually(() =>
    service.events.some((event) => event.kind === 'statement-ended' && event.operation === 'changes_check'),
  )
  await write(database, acme, { upsert: { 7: 'seven' } })
  expect((await waiting)[0].map(summary)).toEqual(['created 7'])
})

it('export: its end marker has the cursor that continues it', async () => {
  await write(database, acme, { upsert: { 1: 'one' } })
  const [records, { cursor }] = await collect(qm.products.export())
  expect(records.map(({ id }) => id)).toEqual([1])
  await write(database, acme, { upsert: { 2: 'two' } })
  expect((await collect(qm.products.changes({ since: cursor })))[0].map(summary)).toEqual(['created 2'])
})

it('watch: resumes after failures, and ends when it is aborted', async () => {
  const stop = new AbortController()
  let failures = 0
  const ids: number[] = []
  const watching = (async () => {
    for await (const { id } of qm.products.watch({ signal: stop.signal })) ids.push(id)
  })()
  const ended = expect(watching).rejects.toThrow('enough')
  // The position is known when the first request that waits has been sent.
  let waits = 0
  interfere = async (input, send) => {
    if (input.includes('wait=')) waits++
    if (failures++ % 2 === 0) throw new TypeError('fetch failed')
    return send()
  }
  await eventually(() => waits > 0)
  for (let id = 1; id <= 5; id++) {
    await write(database, acme, { upsert: { [id]: `p${id}` } })
    await eventually(() => ids.includes(id))
  }
  stop.abort(new Error('enough'))
  await ended
  expect(ids).toEqual([1, 2, 3, 4, 5])
  expect(failures).toBeGreaterThan(1)
})

it('watch: throws if changes may be missing', async () => {
  await write(database, acme, { upsert: { 1: 'one' } })
  const [, since] = await collect(qm.products.changes())
  await database.query('update tally set version = version + 1 where account_id = $1', [acme.accountId])
  await expect(qm.products.watch({ since }).next()).rejects.toBeInstanceOf(CursorExpired)
})

it('sync: keeps a copy through truncated exports, failures and an expired cursor', async () => {
  const many = Array.from({ length: 2_345 }, (_, i) => [i + 1, `p${i + 1}`] as const)
  await write(database, acme, { upsert: Object.fromEntries(many) })
  let [exports, failures] = [0, 0]
  interfere = async (_input, send) => {
    const response = await send()
    const isExport = response.headers.get('content-type') === 'application/x-ndjson'
    if (isExport && ++exports === 1) return new Response((await response.text()).slice(0, 40_000), response)
    if (!isExport && ++failures % 3 === 0) throw new TypeError('fetch failed')
    return response
  }
  const stop = new AbortController()
  const copy = new Map<number, string>()
  let stored: string | undefined
  let restarts = 0
  const syncing = (async () => {
    for await (const batch of qm.products.sync({ fields: ['id', 'name'], signal: stop.signal })) {
      if (batch.restart) {
        restarts++
        copy.clear()
      }
      for (const id of batch.deleted) copy.delete(id)
      for (const { id, name } of batch.upserted) copy.set(id, name)
      stored = batch.cursor
    }
  })()
  const ended = expect(syncing).rejects.toThrow('enough')
  const isEqual = async () =>
    JSON.stringify([...copy].toSorted(([a], [b]) => a - b)) === JSON.stringify([...(await table())])
  await eventually(async () => stored !== undefined && (await isEqual()))
  expect([exports, restarts]).toEqual([2, 2])
  for (let round = 1; round <= 6; round++) {
    await write(database, acme, { upsert: { [round]: `round ${round}`, 3000: 'new' }, delete: [round + 100] })
    await eventually(isEqual)
  }
  // Another program deletes a record: the feed does not know which.
  await database.query('delete from product where account_id = $1 and id = 2000', [acme.accountId])
  await database.query(
    `update tally set version = version + 1, total = total - 1 where account_id = $1 and resource = 'product'`,
    [acme.accountId],
  )
  await eventually(isEqual)
  expect(restarts).toBe(3)
  stop.abort(new Error('enough'))
  await ended

  // A program that is started again continues with the cursor that it has stored.
  await write(database, acme, { upsert: { 5: 'five' } })
  const { value } = await qm.products.sync({ fields: ['id', 'name'], since: stored }).next()
  expect(value).toMatchObject({ restart: false, deleted: [], upserted: [{ id: 5, name: 'five' }] })
})

it('sync: needs the ids', () => {
  expect(() => qm.products.sync({ fields: ['name'] })).toThrow('fields must include id')
  const compiled: AsyncGenerator<{ readonly upserted: readonly Product[] }> = qm.products.sync()
  expect(compiled).toBeDefined()
})
