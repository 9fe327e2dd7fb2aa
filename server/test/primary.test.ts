import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { MovableAddress } from '../../verification/src/replication/movable-address.ts'
import { PrimaryAndStandby } from '../../verification/src/replication/primary-and-standby.ts'
import { defaultLimits, type Limits } from '../src/limits/passed-limits.ts'
import { withClient } from '../src/postgres/client.ts'
import { Database } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrations/migrate.ts'
import { sql } from '../src/sql.ts'
import { stopAtEnd } from './at-end.ts'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/** A primary and a standby, and a service that reaches one of them through an address that can be moved. */

const database = 'postgres'
const partners = '/api/v1/resources/partner'

const cluster = stopAtEnd(await PrimaryAndStandby.start())
const primaryUrl = cluster.primary.url(database)
await migrate(primaryUrl)
const acme = await withClient(primaryUrl, (client) => account(client, 'acme'))
await cluster.standby.caughtUpWith(cluster.primary)
const address = stopAtEnd(await MovableAddress.listen())

function urlAt(...ports: readonly number[]): string {
  return `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${database}`
}

async function withService(
  url: string,
  work: (service: TestService) => Promise<void>,
  limits: Partial<Limits> = {},
): Promise<void> {
  const service = await startTestService(url, {}, limits)
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

const create = (service: TestService, name: string) => service.post(acme, partners, { name })

async function isReady(service: TestService): Promise<boolean> {
  return (await service.request(acme, 'GET', '/readyz')).status === 200
}

async function total(service: TestService): Promise<number> {
  const { body } = await service.request(acme, 'GET', `${partners}?limit=1`)
  return Number(/"total":(\d+)/.exec(JSON.stringify(body))?.[1])
}

async function totalAt(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select count(*)::int as n from partner')
  return rows[0].n
}

describe('a standby', () => {
  it('serves no requests and is not ready; the service reconnects when the address moves to the primary', async () => {
    address.moveTo(cluster.standby.port, 'leave')
    await withService(urlAt(address.port), async (service) => {
      expect(await isReady(service)).toBe(false)
      const read = await service.request(acme, 'GET', partners)
      expect([read.status, read.body]).toMatchObject([503, { code: 'database_unavailable' }])
      expect((await create(service, 'On a standby')).status).toBe(503)
      // The connections to the standby stay open: the service must close them.
      address.moveTo(cluster.primary.port, 'leave')
      await eventually(() => isReady(service))
      expect((await create(service, 'On the primary')).status).toBe(201)
    })
  })

  it('is skipped among several hosts in any order, and so is a host that is down', async () => {
    const { primary, standby } = cluster
    for (const ports of [
      [standby.port, primary.port],
      [1, primary.port],
    ]) {
      await withService(urlAt(...ports), async (service) => {
        await eventually(() => isReady(service))
        expect((await create(service, 'By several hosts')).status).toBe(201)
      })
      expect(await withClient(urlAt(...ports), totalAt)).toBeGreaterThan(0)
    }
    await expect(withClient(urlAt(1, standby.port), totalAt)).rejects.toThrow('is a primary')
  })
})

describe('a server that does not respond', () => {
  const silence = { pipelinedSilenceMsMax: 1_000, reconnectSilentMsMax: 500, writeMsMax: 1_500 }

  it('fails requests with 503 without waiting for it, and is not ready', async () => {
    address.moveTo(cluster.primary.port, 'leave')
    await withService(
      urlAt(address.port),
      async (service) => {
        await eventually(() => isReady(service))
        expect(await total(service)).toBeGreaterThan(0)
        cluster.primary.pause()
        try {
          // They end while the server is still silent.
          const responses = await Promise.all([
            service.request(acme, 'GET', `${partners}?limit=2`),
            service.request(acme, 'GET', `${partners}/1`),
            create(service, 'Silence'),
          ])
          expect(responses.map(({ status }) => status)).toEqual([503, 503, 503])
          // Far below the 30 s that it took without these timeouts.
          expect(await isReady(service)).toBe(false)
        } finally {
          cluster.primary.resume()
        }
        await eventually(() => isReady(service))
      },
      silence,
    )
  })
})

describe('an old primary that is still running', () => {
  it('is no longer read through open connections once the address has moved to the new primary', async () => {
    address.moveTo(cluster.primary.port, 'leave')
    await cluster.standby.caughtUpWith(cluster.primary)
    await withService(urlAt(address.port), async (service) => {
      const before = await total(service)
      const list = await service.request(acme, 'GET', `${partners}?limit=1000`)
      const etag = list.headers.get('etag') ?? ''
      const old = await cluster.promote()
      // The same version on both, with different content.
      for (const [node, name] of [
        [old, 'Lost'],
        [cluster.primary, 'Current'],
      ] as const) {
        await withClient(node.url(database), (client) => client.query(tickAndInsert, [acme.accountId, name]))
      }
      address.moveTo(cluster.primary.port, 'leave')
      await eventually(async () => (await names(service)).includes('Current'))
      for (let n = 0; n < 50; n++) {
        const now = await names(service)
        expect([now.includes('Current'), now.includes('Lost')]).toEqual([true, false])
        const { status } = await service.request(acme, 'GET', `${partners}?limit=1000`, {
          headers: { 'if-none-match': etag },
        })
        expect(status).toBe(200)
      }
      expect(await total(service)).toBe(before + 1)
      expect(service.events).toContainEqual({ kind: 'primary-changed', timeline: '00000002' })
      // The service rejects an earlier timeline of the same system, even if the address moves back to it.
      address.moveTo(old.port, 'close')
      await eventually(async () => !(await isReady(service)))
      expect((await service.request(acme, 'GET', `${partners}?limit=1000`)).status).toBe(503)
      address.moveTo(cluster.primary.port, 'close')
      await eventually(() => isReady(service))
    })
  })
})

const tickAndInsert = `with tick as (
  update tally set version = version + 1, total = total + 1, last_id = last_id + 1
  where account_id = $1 and resource = 'partner' returning version, last_id)
insert into partner (account_id, id, version, name, is_company, is_patient, is_customer, is_vendor, is_employee, active,
  create_date, write_date)
select $1, last_id, version, $2, false, false, false, false, false, true, now(), now() from tick`

/** The names of the partners, among all other strings of the response. */
async function names(service: TestService): Promise<string[]> {
  const { status, body } = await service.request(acme, 'GET', `${partners}?limit=1000&fields=name`)
  return status === 200 ? JSON.stringify(body).split('"') : []
}

it('connections that are being opened when the service ends are closed', async () => {
  const options = { role: '', emit: () => {}, connectionsMax: 2, readMsMax: 60_000, limits: defaultLimits }
  const closing = new Database({ ...options, url: primaryUrl })
  const one = sql`select 1 as one`
  const started = Promise.allSettled([
    closing.read(one.template([], 'list', 'pipelined')([])),
    closing.read(one.statement('list')),
    closing.writeOne(one.statement('list')),
    closing.primary.check(),
  ])
  await closing.close()
  const isRejected = (await started).map(({ status }) => status === 'rejected')
  expect(isRejected).toEqual([true, true, true, false])
  const others =
    "select from pg_stat_activity where application_name like 'quartermaster%' and pid <> pg_backend_pid()"
  await eventually(() =>
    withClient(primaryUrl, async (client) => (await client.query(others)).rowCount === 0),
  )
})
