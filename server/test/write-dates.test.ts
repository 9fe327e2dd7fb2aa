import { beforeEach, describe, expect, it } from 'vitest'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { citusNodes } from './distributed-database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService, type TestResponse } from './service.ts'

/** `create_date` and `write_date`: in the order of versions, so that no client that has read one misses an earlier one. */

const partners = '/api/v1/resources/partner'
let acme: TestAccount
let number = 0

const url = await freshDatabase()
const client = await connected(url)
const holder = await connected(url)
const services = [await startTestService(url), await startTestService(url), await startTestService(url)]

beforeEach(async () => {
  acme = await account(client, `acme${++number}`)
  expect((await send('POST', partners, '{"name":"First"}')).status).toBe(201)
})

const send = (method: string, path: string, body: string, headers = {}, n = 0): Promise<TestResponse> => {
  const service = services[n % services.length]
  if (service === undefined) throw new Error('no service')
  return service.request(acme, method, path, {
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

const ndjson = { 'content-type': 'application/x-ndjson' }
/** Every way in which a request writes a record, and the id of that record. */
const writes: Record<string, { readonly id: number; readonly write: () => Promise<TestResponse> }> = {
  'a create': { id: 2, write: () => send('POST', partners, '{"name":"x"}') },
  'a create with an Idempotency-Key': {
    id: 2,
    write: () => send('POST', partners, '{"name":"x"}', { 'idempotency-key': 'k' }),
  },
  'a change': { id: 1, write: () => send('PATCH', `${partners}/1`, '{"name":"x"}') },
  'a change with an Idempotency-Key': {
    id: 1,
    write: () => send('PATCH', `${partners}/1`, '{"name":"x"}', { 'idempotency-key': 'k' }),
  },
  'a batch that changes': {
    id: 1,
    write: () => send('POST', `${partners}/batch?mode=update`, '{"id":1,"name":"x"}\n', ndjson),
  },
}

interface Dates {
  readonly created: string
  readonly written: string
}

async function dates(id: number): Promise<Dates> {
  const { rows } = await client.query<Dates>(
    `select create_date::text as created, write_date::text as written from partner where account_id = $1 and id = $2`,
    [acme.accountId, id],
  )
  const [row] = rows
  if (row === undefined) throw new Error(`no partner ${id}`)
  return row
}

async function clock(): Promise<string> {
  const { rows } = await client.query<{ now: string }>(
    `select date_trunc('milliseconds', clock_timestamp())::text as now`,
  )
  return rows[0]?.now ?? ''
}

describe.each(Object.entries(writes))('%s', (_, { id, write }) => {
  // On Citus the lock is on a worker, and the date is that of the statement, unless the previous write has a later one.
  it.skipIf(citusNodes.length > 0)('has a date from after it got the lock of the tally', async () => {
    await holder.query('begin')
    await holder.query(
      `update tally set version = version + 1 where account_id = $1 and resource = 'partner'`,
      [acme.accountId],
    )
    const response = write()
    await eventually(async () => (await waitingForLocks(client)).length === 1)
    const before = await clock()
    await holder.query('commit')
    expect((await response).status).toBeLessThan(300)
    const { created, written } = await dates(id)
    expect(Date.parse(written)).toBeGreaterThanOrEqual(Date.parse(before))
    if (id === 2) expect(created).toBe(written)
  })

  it('has a date that is not before that of the previous write, even if the clock is behind', async () => {
    const { rows } = await client.query<{ last: Date }>(
      `update tally set written_at = now() + interval '1 hour' where account_id = $1 and resource = 'partner'
       returning written_at as last`,
      [acme.accountId],
    )
    expect((await write()).status).toBeLessThan(300)
    const { created, written } = await dates(id)
    expect(Date.parse(written)).toBe(rows[0]?.last.getTime())
    if (id === 2) expect(created).toBe(written)
  })
})

it('dates are in the order of versions if several processes write', async () => {
  await Promise.all(
    Array.from({ length: 240 }, async (_, n) => {
      const body = JSON.stringify({ name: `Partner ${n}` })
      const response =
        n % 4 === 3
          ? await send('PATCH', `${partners}/1`, body, {}, n)
          : await send('POST', partners, body, n % 4 === 1 ? { 'idempotency-key': `k${n}` } : {}, n)
      expect(response.status, JSON.stringify(response.body)).toBeLessThan(300)
    }),
  )
  const { rows } = await client.query<{ version: string; created: string; date: Date; before: Date | null }>(
    `select version, write_date as date, lag(write_date) over (order by version) as before from partner
     where account_id = $1 order by version`,
    [acme.accountId],
  )
  expect(rows.length).toBe(181)
  expect(rows.filter(({ date, before }) => before !== null && date < before)).toEqual([])
})
