import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CuttingWire, startCuttingWire } from './cutting-wire.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/** Every request once in the request log and once in usage, whatever becomes of the connection that wrote them. */

let url: string
let client: pg.Client
let wire: CuttingWire
const products = '/api/v1/inventory/product'

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  wire = await startCuttingWire(url)
})

afterAll(async () => {
  await wire.close()
  await client.end()
})

const start = (databaseUrl: string) =>
  startTestService(databaseUrl, {}, { usageFlushMs: 200, writeLockMsMax: 200 })

async function ask(service: TestService, by: TestAccount, ids: readonly string[]): Promise<void> {
  for (const id of ids) await service.request(by, 'GET', products, { headers: { 'x-request-id': id } })
}

const upTo = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}-${i}`)

/** Ids of requests as often as they are in the log. */
async function logged({ accountId }: TestAccount): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select request_id as id from request where account_id = $1 order by request_id',
    [accountId],
  )
  return rows.map(({ id }) => id)
}

/** Of the minutes and of the day: requests, those unlogged, and the sum of the histogram. */
async function usage({ accountId }: TestAccount): Promise<Record<string, number[]>> {
  const { rows } = await client.query<{ per: string; sums: number[] }>(
    `select per, array[sum(requests), sum(unlogged), sum((select sum(n) from unnest(counts) n))]::int[] as sums
     from usage where account_id = $1 group by per`,
    [accountId],
  )
  return Object.fromEntries(rows.map(({ per, sums }) => [per, sums]))
}

describe('when the connection breaks between the commit and its answer', () => {
  it('the same batch is sent again, and nothing is logged or counted twice', async () => {
    const acme = await account(client, 'acme')
    const service = await start(wire.databaseUrl)
    const before = wire.cuts
    const ids = upTo(10, 'a')
    wire.cutInserts(3, 'a-')
    await ask(service, acme, ids)
    await eventually(() => wire.cuts === before + 3)
    wire.cutInserts(3, 'minute')
    const more = upTo(5, 'b')
    await ask(service, acme, more)
    await eventually(() => wire.cuts === before + 6)
    await service.close()
    expect(await logged(acme)).toEqual([...ids, ...more].toSorted())
    expect(await usage(acme)).toEqual({ minute: [15, 0, 15], day: [15, 0, 15] })
    expect(service.events.filter(({ kind }) => kind === 'activity-unwritten')).not.toEqual([])
    expect(service.events.filter(({ kind }) => kind.startsWith('requests-un'))).toEqual([])
  })

  it('the usage that another process adds in between is counted, too', async () => {
    const globex = await account(client, 'globex')
    const [first, second] = [await start(wire.databaseUrl), await start(url)]
    const before = wire.cuts
    wire.cutInserts(1, 'minute')
    // One: usage may be written between two requests.
    await ask(first, globex, upTo(1, 'first'))
    await eventually(() => wire.cuts === before + 1)
    wire.refuse()
    await ask(second, globex, upTo(3, 'second'))
    await second.close()
    expect((await usage(globex))['day']?.[0]).toBe(4)
    wire.accept()
    await first.close()
    expect(await logged(globex)).toEqual([...upTo(1, 'first'), ...upTo(3, 'second')])
    expect(await usage(globex)).toEqual({ minute: [4, 0, 4], day: [4, 0, 4] })
  })
})

describe('what cannot be written', () => {
  const count = (service: TestService, kind: 'requests-unlogged' | 'requests-uncounted') =>
    service.events.reduce((sum, event) => sum + (event.kind === kind ? event.count : 0), 0)

  /** Refuses every row, for as long as the work takes. */
  async function refusing(table: 'request' | 'usage', work: () => Promise<void>): Promise<void> {
    await client.query(`alter table ${table} add constraint refused check (false) not valid`)
    try {
      await work()
    } finally {
      await client.query(`alter table ${table} drop constraint refused`)
    }
  }

  it('is reported as missing from the log, and shown in the usage, when the database refuses it', async () => {
    const initech = await account(client, 'initech')
    const service = await start(url)
    await refusing('request', async () => {
      await ask(service, initech, upTo(6, 'c'))
      await eventually(() => count(service, 'requests-unlogged') === 6)
    })
    await service.close()
    expect(await logged(initech)).toEqual([])
    expect(await usage(initech)).toEqual({ minute: [6, 6, 6], day: [6, 6, 6] })
    expect(count(service, 'requests-unlogged')).toBe(6)
    expect(count(service, 'requests-uncounted')).toBe(0)
  })

  it('is reported as missing from the usage', async () => {
    const umbrella = await account(client, 'umbrella')
    const service = await start(url)
    await refusing('usage', async () => {
      await ask(service, umbrella, upTo(6, 'd'))
      await service.close()
    })
    expect(await logged(umbrella)).toEqual(upTo(6, 'd'))
    expect(await usage(umbrella)).toEqual({})
    expect(count(service, 'requests-uncounted')).toBe(6)
  })

  it('waits where a right is missing, and does not hold up the rest', async () => {
    const soylent = await account(client, 'soylent')
    const service = await start(url)
    await client.query('revoke insert on request from quartermaster_server')
    await ask(service, soylent, upTo(6, 'f'))
    await eventually(async () => (await usage(soylent))['day']?.[0] === 6)
    expect(await logged(soylent)).toEqual([])
    await client.query('grant insert on request to quartermaster_server')
    await service.close()
    expect(await logged(soylent)).toEqual(upTo(6, 'f'))
    expect(await usage(soylent)).toEqual({ minute: [6, 0, 6], day: [6, 0, 6] })
    expect(count(service, 'requests-unlogged')).toBe(0)
  })

  it('is reported when the process ends while the database is away', async () => {
    const hooli = await account(client, 'hooli')
    const service = await start(wire.databaseUrl)
    await client.query('begin; lock table request in access exclusive mode')
    try {
      await ask(service, hooli, upTo(3, 'e'))
      await service.close()
    } finally {
      await client.query('rollback')
    }
    expect([await logged(hooli), count(service, 'requests-unlogged')]).toEqual([[], 3])
  })
})
