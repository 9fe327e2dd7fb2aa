import { beforeEach, describe, expect, it } from 'vitest'
import { write } from '../../server/test/changes-fixture.ts'
import { account } from '../../server/test/database.ts'
import { eventually } from '../../server/test/eventually.ts'
import { freshService } from '../../server/test/service.ts'
import {
  type Change,
  CursorExpired,
  type Product,
  Quartermaster,
  RequestInvalid,
  type SyncBatch,
  type SyncState,
} from '../src/index.ts'

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

describe('sync', () => {
  /** Applies batches as the guide does. Each record has the mark of the walk that saw it last. */
  class Copy {
    readonly records = new Map<number, { readonly name: string; readonly walk: string }>()
    state: SyncState | undefined
    sweeps = 0
    /** The least number of records after a batch. */
    least = Number.POSITIVE_INFINITY

    apply({ deleted, upserted, sweep, state }: SyncBatch<Pick<Product, 'id' | 'name'>>): void {
      for (const id of deleted) this.records.delete(id)
      for (const { id, name } of upserted) this.records.set(id, { name, walk: state.walk })
      if (sweep) {
        this.sweeps += 1
        for (const [id, { walk }] of this.records) if (walk !== state.walk) this.records.delete(id)
      }
      this.state = state
      this.least = Math.min(this.least, this.records.size)
    }

    async isEqual(): Promise<boolean> {
      const names = [...this.records].map(([id, { name }]) => [id, name] as const)
      return JSON.stringify(names.toSorted(([a], [b]) => a - b)) === JSON.stringify([...(await table())])
    }

    /** Until it is aborted, or a batch that is the last one is applied. */
    async follow(signal: AbortSignal, isLast = (_batch: SyncBatch<object>) => false): Promise<void> {
      for await (const batch of qm.products.sync({ fields: ['id', 'name'], since: this.state, signal })) {
        this.apply(batch)
        if (isLast(batch)) return
      }
    }
  }

  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [i + 1, `p${i + 1}`]))

  /** Another program deletes a record: the feed does not know which, so every cursor expires. */
  async function loseTrackOf(id: number): Promise<void> {
    await database.query('delete from product where account_id = $1 and id = $2', [acme.accountId, id])
    await database.query(
      `update tally set version = version + 1, total = total - 1 where account_id = $1 and resource = 'product'`,
      [acme.accountId],
    )
  }

  it('keeps a copy through failures and an expired cursor, which never has fewer records meanwhile', async () => {
    await write(database, acme, { upsert: names(2_345) })
    let failures = 0
    interfere = async (_input, send) => {
      const response = await send()
      if (++failures % 3 === 0) throw new TypeError('fetch failed')
      return response
    }
    const stop = new AbortController()
    const copy = new Copy()
    const ended = expect(copy.follow(stop.signal)).rejects.toThrow('enough')
    await eventually(async () => copy.sweeps === 1 && (await copy.isEqual()))
    const walk = copy.state?.walk
    copy.least = Number.POSITIVE_INFINITY
    for (let round = 1; round <= 6; round++) {
      await write(database, acme, {
        upsert: { [round]: `round ${round}`, 3000: 'new' },
        delete: [round + 100],
      })
      await eventually(() => copy.isEqual())
    }
    expect([copy.state?.walk, copy.sweeps]).toEqual([walk, 1])
    await loseTrackOf(2000)
    await eventually(() => copy.isEqual())
    expect(copy.sweeps).toBe(2)
    expect(copy.state?.walk).not.toBe(walk)
    expect([copy.least, copy.records.size]).toEqual([2_339, 2_339])
    stop.abort(new Error('enough'))
    await ended
  })

  it('continues a walk that was interrupted, with its mark', async () => {
    await write(database, acme, { upsert: names(2_500) })
    const copy = new Copy()
    const { signal } = new AbortController()
    await copy.follow(signal, () => true)
    const first = copy.state
    expect([first?.isWalking, copy.records.size]).toEqual([true, 1000])
    await write(database, acme, { upsert: { 1: 'one' }, delete: [2, 2_400] })
    // As the program has stored it.
    copy.state = JSON.parse(JSON.stringify(first))
    await copy.follow(signal, ({ sweep }) => sweep)
    expect([copy.state?.walk, copy.state?.isWalking]).toEqual([first?.walk, false])
    expect(await copy.isEqual()).toBe(true)
    await write(database, acme, { upsert: { 5: 'five' } })
    await copy.follow(signal, () => true)
    expect(await copy.isEqual()).toBe(true)
    expect(copy.state?.walk).toBe(first?.walk)
  })

  it('ends a walk of which only the sweep is missing, and one through no records', async () => {
    await write(database, acme, { upsert: names(3) })
    const copy = new Copy()
    const { signal } = new AbortController()
    copy.records.set(99, { name: 'gone', walk: 'before' })
    const { value } = await qm.products.sync({ limit: 3 }).next()
    expect(value).toMatchObject({ sweep: true, deleted: [], state: { isWalking: false } })
    copy.apply({ ...value, sweep: false })
    copy.state = { ...value.state, isWalking: true }
    await copy.follow(signal, () => true)
    expect(copy.sweeps).toBe(1)
    expect(await copy.isEqual()).toBe(true)
    await write(database, acme, { delete: [1, 2, 3] })
    copy.state = undefined
    await copy.follow(signal, () => true)
    expect([copy.sweeps, copy.records.size]).toEqual([2, 0])
  })

  it('continues an export from its cursor', async () => {
    await write(database, acme, { upsert: names(3) })
    const [records, { cursor }] = await collect(qm.products.export())
    await write(database, acme, { upsert: { 2: 'two' }, delete: [3] })
    const { value } = await qm.products.sync({ since: cursor }).next()
    expect(records).toHaveLength(3)
    expect(value).toMatchObject({ deleted: [3], upserted: [{ id: 2, name: 'two' }], sweep: false })
    expect(value.state).toEqual({
      walk: expect.stringMatching(/^[0-9a-f]{16}$/),
      isWalking: false,
      cursor: expect.any(String),
    })
  })

  it('sends a filter with its walk, and sweeps what does not match', async () => {
    await write(database, acme, { upsert: { 1: 'one', 2: 'two', 3: 'three' } })
    const options = { filter: 'name*t' }
    const first = await qm.products.sync(options).next()
    expect(first.value.upserted.map(({ id }) => id)).toEqual([2, 3])
    expect(first.value).toMatchObject({ sweep: true, deleted: [] })
    await write(database, acme, { upsert: { 2: 'one' } })
    const next = await qm.products.sync({ ...options, since: first.value.state }).next()
    expect(next.value).toMatchObject({ sweep: false, deleted: [2], upserted: [] })
    const other = qm.products.sync({ filter: 'name*o', since: first.value.state }).next()
    await expect(other).rejects.toBeInstanceOf(RequestInvalid)
  })

  it('needs the ids, and a state that is one', async () => {
    expect(() => qm.products.sync({ fields: ['name'] })).toThrow('fields must include id')
    const state = { walk: 'a', isWalking: true, cursor: 'b' }
    for (const wrong of [{ ...state, walk: undefined }, { ...state, isWalking: 1 }, { walk: 'a' }, null, 5]) {
      const since: SyncState = JSON.parse(JSON.stringify(wrong))
      await expect(qm.products.sync({ since }).next()).rejects.toThrow(/since must be the state/)
    }
  })
})
