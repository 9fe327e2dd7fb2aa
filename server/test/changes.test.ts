import { describe, expect, it } from 'vitest'
import {
  allChanges,
  type Change,
  changes,
  changesPath,
  summary,
  withProducts,
  write,
} from './changes-fixture.ts'
import { account } from './database.ts'
import { freshService } from './service.ts'

/** Pages of the change feed. */

let accounts = 0

const { client, service } = await freshService()

const newAccount = () => account(client, `feed${++accounts}`)

const accountWith = async (count: number) => withProducts(client, await newAccount(), count)

describe('from the beginning', () => {
  it('an empty account has no changes, and a cursor', async () => {
    const empty = await newAccount()
    const page = await changes(service, empty)
    expect(page).toEqual({ data: [], meta: { count: 0, more: false }, cursor: expect.any(String) })
    await write(client, empty, { upsert: { 5: 'five' } })
    expect(summary(await changes(service, empty, { since: page.cursor }))).toEqual(['created 5 @1'])
  })

  it('every record is created, once, over pages within one version', async () => {
    const acme = await accountWith(2_500)
    const pages = await allChanges(service, acme, { limit: 1000 })
    expect(pages.map(({ meta }) => meta)).toEqual([
      { count: 1000, more: true },
      { count: 1000, more: true },
      { count: 500, more: false },
    ])
    const all = pages.flatMap(({ data }) => data)
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 2_500 }, (_, i) => i + 1))
    expect(new Set(all.map(({ change, version }) => `${change} @${version}`))).toEqual(
      new Set(['created @1']),
    )
  })

  it('a full last page is followed by nothing', async () => {
    const acme = await accountWith(20)
    const page = await changes(service, acme, { limit: 20 })
    expect(page.meta).toEqual({ count: 20, more: false })
    expect((await changes(service, acme, { since: page.cursor })).data).toEqual([])
  })

  it('a record written before the first page is created, although its version differs from that of its creation', async () => {
    const acme = await accountWith(3)
    await write(client, acme, { upsert: { 2: 'again' } })
    const pages = await allChanges(service, acme, { limit: 1 })
    expect(pages.flatMap(summary)).toEqual(['created 1 @1', 'created 3 @1', 'created 2 @2'])
  })

  it('deletions before the first page are not sent, later ones are', async () => {
    const acme = await accountWith(4)
    await write(client, acme, { delete: [1] })
    const first = await changes(service, acme, { limit: 1 })
    expect(summary(first)).toEqual(['created 2 @1'])
    await write(client, acme, { delete: [2, 4] })
    const rest = await allChanges(service, acme, { limit: 1, since: first.cursor })
    expect(rest.flatMap(summary)).toEqual(['created 3 @1', 'deleted 2 @3', 'deleted 4 @3'])
  })
})

describe('after a cursor', () => {
  it('the changes have the order of their versions, with the record at its last version', async () => {
    const acme = await accountWith(3)
    const { cursor } = await changes(service, acme, { since: 'now' })
    await write(client, acme, { upsert: { 3: 'three' } })
    await write(client, acme, { upsert: { 4: 'four' }, delete: [1] })
    await write(client, acme, { upsert: { 3: 'THREE' } })
    const page = await changes(service, acme, { since: cursor, fields: 'name' })
    expect(page.data).toEqual([
      { change: 'deleted', id: 1, version: 3 },
      { change: 'created', id: 4, version: 3, etag: expect.any(String), record: { name: 'four' } },
      { change: 'updated', id: 3, version: 4, etag: expect.any(String), record: { name: 'THREE' } },
    ])
    expect(page.meta).toEqual({ count: 3, more: false })
  })

  it('an id that was deleted and created again is sent in this order', async () => {
    const acme = await accountWith(2)
    const { cursor } = await changes(service, acme, { since: 'now' })
    await write(client, acme, { delete: [1] })
    await write(client, acme, { upsert: { 1: 'new' } })
    for (const limit of [1, 10]) {
      const pages = await allChanges(service, acme, { since: cursor, limit })
      expect(pages.flatMap(summary)).toEqual(['deleted 1 @2', 'created 1 @3'])
    }
    await write(client, acme, { delete: [1] })
    expect(summary(await changes(service, acme, { since: cursor }))).toEqual(['deleted 1 @2', 'deleted 1 @4'])
  })

  it('an id that one write deleted and created again is not lost between two pages', async () => {
    const acme = await accountWith(3)
    const { cursor } = await changes(service, acme, { since: 'now' })
    await write(client, acme, { delete: [1, 2, 3], upsert: { 2: 'again' } })
    const pages = await allChanges(service, acme, { since: cursor, limit: 1 })
    expect(pages.flatMap(summary)).toEqual(['deleted 1 @2', 'created 2 @2', 'deleted 3 @2'])
  })

  it('within a version, records behind the cursor are created, those before it updated', async () => {
    const acme = await accountWith(4)
    const first = await changes(service, acme, { limit: 2 })
    await write(client, acme, { upsert: { 1: 'one', 4: 'four' } })
    const pages = await allChanges(service, acme, { since: first.cursor, limit: 10 })
    expect(pages.flatMap(summary)).toEqual(['created 3 @1', 'updated 1 @2', 'created 4 @2'])
  })

  it('other accounts and resources are not part of it', async () => {
    const [one, other] = [await accountWith(2), await accountWith(2)]
    const { cursor } = await changes(service, one, { since: 'now' })
    await write(client, other, { upsert: { 9: 'nine' }, delete: [1] })
    expect((await changes(service, one, { since: cursor })).data).toEqual([])
    const companies = await service.request(one, 'GET', '/api/v1/resources/company/changes')
    expect(companies.body).toMatchObject({ data: [], meta: { count: 0, more: false } })
  })

  it('decimals are exact', async () => {
    const acme = await accountWith(1)
    await client.query('update product set list_price = 123456789012345678.125 where account_id = $1', [
      acme.accountId,
    ])
    const response = await fetch(`http://127.0.0.1:${service.port}${changesPath}`, {
      headers: { 'x-forwarded-host': `${acme.name}.localhost`, authorization: `Bearer ${acme.key}` },
    })
    expect(await response.text()).toContain('"list_price":123456789012345678.125')
  })
})

describe('with a filter', () => {
  const filter = 'name=yes'

  it('a changed record that does not match is removed, unless it is new', async () => {
    const acme = await newAccount()
    await write(client, acme, { upsert: { 1: 'yes', 2: 'no', 3: 'yes', 4: 'yes' } })
    const first = await changes(service, acme, { filter })
    expect(summary(first)).toEqual(['created 1 @1', 'created 3 @1', 'created 4 @1'])
    await write(client, acme, { upsert: { 1: 'no', 2: 'yes', 5: 'no', 6: 'yes' }, delete: [3] })
    const next = await changes(service, acme, { filter, since: first.cursor })
    expect(next.data.map(({ change, id, record }) => [change, id, record?.name])).toEqual([
      ['removed', 1, undefined],
      ['updated', 2, 'yes'],
      ['deleted', 3, undefined],
      ['created', 6, 'yes'],
    ])
  })

  it('a record that stops matching while the client reads from the beginning is removed', async () => {
    const acme = await newAccount()
    await write(client, acme, { upsert: { 1: 'yes', 2: 'yes', 3: 'yes' } })
    const first = await changes(service, acme, { filter, limit: 1 })
    expect(summary(first)).toEqual(['created 1 @1'])
    await write(client, acme, { upsert: { 1: 'no' } })
    const rest = await allChanges(service, acme, { filter, limit: 1, since: first.cursor })
    expect(rest.flatMap(summary)).toEqual(['created 2 @1', 'created 3 @1', 'removed 1 @2'])
  })

  it('a record that one write deleted and created again is deleted, if the new one does not match', async () => {
    const acme = await newAccount()
    await write(client, acme, { upsert: { 1: 'yes', 2: 'yes' } })
    const { cursor } = await changes(service, acme, { filter })
    await write(client, acme, { delete: [1, 2], upsert: { 1: 'no', 2: 'yes' } })
    expect(summary(await changes(service, acme, { filter, since: cursor }))).toEqual([
      'deleted 1 @2',
      'created 2 @2',
    ])
  })

  it('a page examines a limited number of records, and can be empty before the end', async () => {
    const acme = await accountWith(25_000)
    await write(client, acme, { upsert: { 24000: 'yes', 30000: 'yes' } })
    const first = await changes(service, acme, { filter })
    expect(first.meta).toEqual({ count: 0, more: true })
    await write(client, acme, { delete: [7, 24_000] })
    const rest = await allChanges(service, acme, { filter, since: first.cursor })
    expect(rest.map(({ meta }) => meta.more)).toEqual([true, false])
    expect(rest.flatMap(summary)).toEqual(['created 30000 @2', 'deleted 7 @3', 'deleted 24000 @3'])
  })
})

/** The result of applying every change, in order. */
function apply(copy: Map<number, string>, data: readonly Change[]): void {
  for (const { change, id, record } of data) {
    if (change === 'created' || change === 'updated') copy.set(id, record?.name ?? '')
    else copy.delete(id)
  }
}

/** A pseudo-random number generator (mulberry32), so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

it.each([1, 2, 3, 4, 5])('copies equal the table while others write (seed %i)', async (seed) => {
  const random = randomOf(seed)
  const acme = await newAccount()
  const consumers = [{}, { filter: 'name[a,b]' }, { filter: 'id>20&name!=c' }].map((parameters) => ({
    parameters,
    copy: new Map<number, string>(),
    since: undefined as string | undefined,
  }))
  const conditions = ['true', "name in ('a', 'b')", "id > 20 and name <> 'c'"]
  for (let round = 0; round < 40; round++) {
    const upsert = Object.fromEntries(
      Array.from({ length: random(12) }, () => [1 + random(40), 'abcd'[random(4)] ?? '']),
    )
    await write(client, acme, { upsert, delete: Array.from({ length: random(6) }, () => 1 + random(40)) })
    const consumer = consumers[random(consumers.length)]
    if (consumer === undefined) continue
    const { since, parameters, copy } = consumer
    const limit = 1 + random(8)
    const page = await changes(service, acme, {
      ...parameters,
      limit,
      ...(since === undefined ? {} : { since }),
    })
    apply(copy, page.data)
    consumer.since = page.cursor
  }
  for (const [i, { parameters, copy, since }] of consumers.entries()) {
    const pages = await allChanges(service, acme, {
      ...parameters,
      limit: 3,
      ...(since === undefined ? {} : { since }),
    })
    apply(
      copy,
      pages.flatMap(({ data }) => data),
    )
    const { rows } = await client.query<{ id: string; name: string }>(
      `select id, name from product where account_id = $1 and ${conditions[i]} order by id`,
      [acme.accountId],
    )
    expect([...copy].toSorted(([a], [b]) => a - b)).toEqual(rows.map(({ id, name }) => [Number(id), name]))
  }
})
