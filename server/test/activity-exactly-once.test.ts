import { describe, expect, it } from 'vitest'
import { atEnd } from './at-end.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { startTestService, type TestService } from './service.ts'

/** The request log and usage count every request exactly once, even if the connection that writes them breaks. */

const products = '/api/v1/inventory/product'
const url = await freshDatabase()
const client = await connected(url)
const proxy = await startLossyProxy(url)
atEnd(() => proxy.close())

const start = (databaseUrl: string) =>
  startTestService(databaseUrl, {}, { usageFlushMs: 200, writeLockMsMax: 200 })

async function send(service: TestService, by: TestAccount, ids: readonly string[]): Promise<void> {
  for (const id of ids) await service.request(by, 'GET', products, { headers: { 'x-request-id': id } })
}

const requestIds = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}-${i}`)

/** The request ids in the log, with duplicates. */
async function logged({ accountId }: TestAccount): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select request_id as id from request where account_id = $1 order by request_id',
    [accountId],
  )
  return rows.map(({ id }) => id)
}

/** Per minute and per day: requests, unlogged requests, and the sum of the histogram. */
async function usage({ accountId }: TestAccount): Promise<Record<string, number[]>> {
  const { rows } = await client.query<{ per: string; sums: number[] }>(
    `select per, array[sum(requests), sum(unlogged), sum((select sum(n) from unnest(counts) n))]::int[] as sums
     from usage where account_id = $1 group by per`,
    [accountId],
  )
  return Object.fromEntries(rows.map(({ per, sums }) => [per, sums]))
}

describe('if the connection breaks between a commit and its response', () => {
  it('sends the same batch again, and neither logs nor counts a request twice', async () => {
    const acme = await account(client, 'acme')
    const service = await start(proxy.databaseUrl)
    const before = proxy.dropped
    const ids = requestIds(10, 'a')
    proxy.dropInsertResponses(3, 'a-')
    await send(service, acme, ids)
    await eventually(() => proxy.dropped === before + 3)
    proxy.dropInsertResponses(3, 'minute')
    const more = requestIds(5, 'b')
    await send(service, acme, more)
    await eventually(() => proxy.dropped === before + 6)
    await service.close()
    expect(await logged(acme)).toEqual([...ids, ...more].toSorted())
    expect(await usage(acme)).toEqual({ minute: [15, 0, 15], day: [15, 0, 15] })
    expect(service.events.filter(({ kind }) => kind === 'activity-unwritten')).not.toEqual([])
    expect(service.events.filter(({ kind }) => kind.startsWith('requests-un'))).toEqual([])
  })

  it('also counts the usage that another process adds before the retry', async () => {
    const globex = await account(client, 'globex')
    const [first, second] = [await start(proxy.databaseUrl), await start(url)]
    const before = proxy.dropped
    proxy.dropInsertResponses(1, 'minute')
    // Only one request: with more, the flush could happen between them.
    await send(first, globex, requestIds(1, 'first'))
    await eventually(() => proxy.dropped === before + 1)
    proxy.refuse()
    await send(second, globex, requestIds(3, 'second'))
    await second.close()
    expect((await usage(globex))['day']?.[0]).toBe(4)
    proxy.accept()
    await first.close()
    expect(await logged(globex)).toEqual([...requestIds(1, 'first'), ...requestIds(3, 'second')])
    expect(await usage(globex)).toEqual({ minute: [4, 0, 4], day: [4, 0, 4] })
  })
})

describe('activity that cannot be written', () => {
  const count = (service: TestService, kind: 'requests-unlogged' | 'requests-uncounted') =>
    service.events.reduce((sum, event) => sum + (event.kind === kind ? event.count : 0), 0)

  /** Runs `work` while the table rejects every row. */
  async function rejecting(table: 'request' | 'usage', work: () => Promise<void>): Promise<void> {
    await client.query(`alter table ${table} add constraint rejected check (false) not valid`)
    try {
      await work()
    } finally {
      await client.query(`alter table ${table} drop constraint rejected`)
    }
  }

  it('is reported as unlogged, and shown in the usage, if the database rejects the rows', async () => {
    const initech = await account(client, 'initech')
    const service = await start(url)
    await rejecting('request', async () => {
      await send(service, initech, requestIds(6, 'c'))
      await eventually(() => count(service, 'requests-unlogged') === 6)
    })
    await service.close()
    expect(await logged(initech)).toEqual([])
    expect(await usage(initech)).toEqual({ minute: [6, 6, 6], day: [6, 6, 6] })
    expect(count(service, 'requests-unlogged')).toBe(6)
    expect(count(service, 'requests-uncounted')).toBe(0)
  })

  it('is reported as uncounted, if the database rejects usage', async () => {
    const umbrella = await account(client, 'umbrella')
    const service = await start(url)
    await rejecting('usage', async () => {
      await send(service, umbrella, requestIds(6, 'd'))
      await service.close()
    })
    expect(await logged(umbrella)).toEqual(requestIds(6, 'd'))
    expect(await usage(umbrella)).toEqual({})
    expect(count(service, 'requests-uncounted')).toBe(6)
  })

  it('is retried if a privilege is missing, without blocking other tables', async () => {
    const soylent = await account(client, 'soylent')
    const service = await start(url)
    await client.query('revoke insert on request from quartermaster_writer')
    await send(service, soylent, requestIds(6, 'f'))
    await eventually(async () => (await usage(soylent))['day']?.[0] === 6)
    expect(await logged(soylent)).toEqual([])
    await client.query('grant insert on request to quartermaster_writer')
    await service.close()
    expect(await logged(soylent)).toEqual(requestIds(6, 'f'))
    expect(await usage(soylent)).toEqual({ minute: [6, 0, 6], day: [6, 0, 6] })
    expect(count(service, 'requests-unlogged')).toBe(0)
  })

  it('is reported if the table stays locked until the process ends', async () => {
    const hooli = await account(client, 'hooli')
    const service = await start(proxy.databaseUrl)
    await client.query('begin; lock table request in access exclusive mode')
    try {
      await send(service, hooli, requestIds(3, 'e'))
      await service.close()
    } finally {
      await client.query('rollback')
    }
    expect([await logged(hooli), count(service, 'requests-unlogged')]).toEqual([[], 3])
  })
})
