import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startThrowawayPostgres, type ThrowawayPostgres } from '../src/cli/database/throwaway-postgres.ts'
import { type Limits, limits } from '../src/limits.ts'
import { Database } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { sql } from '../src/sql.ts'
import { account, connected, type TestAccount } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/** A database that is there and does not do what it is asked: on a server of its own, whose settings change. */

const partners = '/api/v1/resources/partner'
const products = '/api/v1/inventory/product'
const json = { 'content-type': 'application/json' }
let postgres: ThrowawayPostgres
let client: pg.Client
let looking: pg.Client
let acme: TestAccount
let globex: TestAccount

beforeAll(async () => {
  postgres = await startThrowawayPostgres({ fsync: 'off' })
  await migrate(postgres.url)
  client = await connected(postgres.url)
  looking = await connected(postgres.url)
  acme = await account(client, 'acme')
  globex = await account(client, 'globex')
  await client.query(
    `insert into product select $1, g, 1, 'Product ' || g, null, g, 0, true, null, null, null, now(), now()
     from generate_series(1, 1000) g`,
    [acme.accountId],
  )
  await client.query(`update tally set total = 1000, version = 1 where account_id = $1`, [acme.accountId])
})

afterAll(async () => {
  await Promise.all([client.end(), looking.end()])
  await postgres.stop()
})

async function withService(
  settings: Record<string, string>,
  shortened: Partial<Limits>,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService(postgres.url, settings, shortened)
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

/** Every filter is another list: none is answered from a cache. */
let filters = 0
const longRead = (service: TestService, by = acme) =>
  service.request(by, 'GET', `${products}?filter=list_price<${++filters}.5|name*zzz`)

const create = (service: TestService, key?: string) =>
  service.request(acme, 'POST', partners, {
    body: '{"name":"Nordwind"}',
    headers: key === undefined ? json : { ...json, 'idempotency-key': key },
  })

async function backends(condition: string): Promise<number[]> {
  const { rows } = await looking.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'quartermaster' and ${condition}`,
  )
  return rows.map(({ pid }) => pid)
}

async function setSynchronous(names: string): Promise<void> {
  await looking.query(`alter system set synchronous_standby_names = '${names}'`)
  await looking.query('select pg_reload_conf()')
  await eventually(async () => {
    const { rows } = await looking.query('show synchronous_standby_names')
    return rows[0].synchronous_standby_names === names
  })
}

describe('serving connections', () => {
  it('compile nothing: while PostgreSQL compiles it can neither time out nor be cancelled', async () => {
    const database = new Database({
      url: postgres.url,
      role: 'quartermaster_server',
      connectionsMax: 1,
      readMsMax: 1000,
      limits,
      emit: () => {},
    })
    const jit = sql`select current_setting('jit') as jit`
    for (const statement of [jit.statement(), jit.template([], 'other', 'pipelined')([])]) {
      expect(await database.read<{ jit: string }>(statement)).toEqual([{ jit: 'off' }])
    }
    expect(await database.writeOne<{ jit: string }>(jit.statement())).toEqual([{ jit: 'off' }])
    await database.close()
  })

  it('that the server ends fail at once, and no request hangs', async () => {
    await withService({}, {}, async (service) => {
      const state = { isDone: false }
      const statuses = new Set<number>()
      const load = Array.from({ length: 8 }, async () => {
        while (!state.isDone) {
          const path = `${products}/${1 + Math.floor(Math.random() * 1000)}`
          statuses.add((await service.request(acme, 'GET', path)).status)
        }
      })
      for (let n = 0; n < 20; n++) {
        await eventually(async () => (await backends('true')).length > 0)
        await looking.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
          await backends('true'),
        ])
      }
      state.isDone = true
      await Promise.all(load)
      // 504 would be a request that waited for its deadline on a connection that was closed.
      expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
      expect(statuses).toContain(200)
    })
  })
})

describe('a read that PostgreSQL does not cancel', () => {
  it('is 504, keeps its place until its backend is gone, and its backend is ended', async () => {
    const settings = {
      QUARTERMASTER_READ_MS_MAX: '3000',
      QUARTERMASTER_DATABASE_POOL_MAX: '1',
      QUARTERMASTER_ACCOUNT_READS_MAX: '1',
    }
    await withService(settings, { readWaitMsMax: 500, readGraceMs: 300 }, async (service) => {
      await client.query('begin')
      await client.query('lock table product in access exclusive mode')
      const stuck = longRead(service)
      await eventually(async () => (await waitingForLocks(looking)).length > 0)
      const [pid] = await waitingForLocks(looking)
      if (pid === undefined) throw new Error('The read ended before its backend could be stopped.')
      // It can do nothing now, not even look at its timeout or at a signal.
      process.kill(pid, 'SIGSTOP')
      try {
        const { status, body } = await stuck
        expect([status, body]).toMatchObject([504, { code: 'deadline_exceeded' }])
        await client.query('rollback')
        // One of the same account waits for its place, one of another for the connection.
        const [same, other] = await Promise.all([longRead(service), longRead(service, globex)])
        expect([same.status, same.body]).toMatchObject([429, { code: 'account_busy' }])
        expect([other.status, other.body]).toMatchObject([503, { code: 'overloaded' }])
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await eventually(async () => (await backends(`pid = ${pid}`)).length === 0)
      await eventually(async () => (await longRead(service)).status === 200)
    })
  })
})

describe('readiness', () => {
  it('does not wait behind long reads', async () => {
    await withService(
      { QUARTERMASTER_DATABASE_POOL_MAX: '2', QUARTERMASTER_READ_MS_MAX: '60000' },
      { readinessCacheMs: 0 },
      async (service) => {
        expect((await service.request(acme, 'GET', '/readyz')).status).toBe(200)
        await client.query('begin')
        await client.query('lock table product in access exclusive mode')
        const slow = [longRead(service), longRead(service)]
        await eventually(async () => (await waitingForLocks(looking)).length === 2)
        for (let looks = 0; looks < 3; looks++) {
          expect((await service.request(acme, 'GET', '/readyz')).status).toBe(200)
        }
        await client.query('rollback')
        expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200])
      },
    )
  })
})

describe('while no synchronous standby answers', () => {
  const writing = { writeMsMax: 2_000, writeWaitMsMax: 500, accountWriteWaitMsMax: 500 }

  it('a create that is sent again is not acknowledged before a standby has it', async () => {
    await withService({}, writing, async (service) => {
      expect((await create(service, 'first')).status).toBe(201)
      await setSynchronous('nobody')
      try {
        const again = await create(service, 'first')
        expect([again.status, again.body]).toMatchObject([503, { code: 'outcome_unknown' }])
      } finally {
        await setSynchronous('')
      }
      await eventually(async () => (await backends(`wait_event = 'SyncRep'`)).length === 0)
      const answer = await create(service, 'first')
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    })
  })

  it('writes are answered in time by their reason, and hold no more connections than there are', async () => {
    await withService({ QUARTERMASTER_DATABASE_POOL_MAX: '2' }, writing, async (service) => {
      expect((await create(service)).status).toBe(201)
      await setSynchronous('nobody')
      try {
        let said = ''
        for (let round = 0; round < 2; round++) {
          // They end while the commit still waits for a standby.
          const answers = await Promise.all(Array.from({ length: 4 }, () => create(service)))
          for (const { status, body } of answers) {
            expect(status).toBeGreaterThanOrEqual(429)
            said += JSON.stringify(body)
          }
          expect((await backends(`wait_event = 'SyncRep'`)).length).toBeLessThanOrEqual(2)
        }
        expect(said).toContain('outcome_unknown')
        expect(said).not.toContain('database_unavailable')
      } finally {
        await setSynchronous('')
      }
      await eventually(async () => (await create(service)).status === 201)
    })
  })
})
