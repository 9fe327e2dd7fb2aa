import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startTemporaryPostgres } from '../src/cli/database/temporary-postgres.ts'
import { defaultLimits, type Limits } from '../src/limits/passed-limits.ts'
import { Database } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrations/migrate.ts'
import { sql } from '../src/sql.ts'
import { stopAtEnd } from './at-end.ts'
import { account, connected } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'
import { startSilentProxy } from './silent-proxy.ts'

/** A database that is reachable but does not respond, on its own server, because tests change its settings. */

const partners = '/api/v1/resources/partner'
const products = '/api/v1/inventory/product'

const postgres = stopAtEnd(await startTemporaryPostgres({ fsync: 'off' }))
await migrate(postgres.url)
const client = await connected(postgres.url)
const observer = await connected(postgres.url)
const acme = await account(client, 'acme')
const globex = await account(client, 'globex')
await client.query(
  `insert into product select $1, g, 1, 'Product ' || g, null, g, 0, true, null, null, null, now(), now()
   from generate_series(1, 1000) g`,
  [acme.accountId],
)
await client.query(`update tally set total = 1000, version = 1 where account_id = $1`, [acme.accountId])

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

/** Every call has a different filter: none is served from a cache. */
let filters = 0
const longRead = (service: TestService, by = acme) =>
  service.request(by, 'GET', `${products}?filter=list_price<${++filters}.5|name*zzz`)

const create = (service: TestService, key?: string) =>
  service.post(acme, partners, { name: 'Nordwind' }, key === undefined ? {} : { 'idempotency-key': key })

async function backends(condition: string): Promise<number[]> {
  const { rows } = await observer.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'quartermaster' and ${condition}`,
  )
  return rows.map(({ pid }) => pid)
}

async function setSynchronous(names: string): Promise<void> {
  await observer.query(`alter system set synchronous_standby_names = '${names}'`)
  await observer.query('select pg_reload_conf()')
  await eventually(async () => {
    const { rows } = await observer.query('show synchronous_standby_names')
    return rows[0].synchronous_standby_names === names
  })
}

describe('serving connections', () => {
  it('have JIT off: while PostgreSQL compiles, a statement can neither time out nor be cancelled', async () => {
    const database = new Database({
      url: postgres.url,
      role: 'quartermaster_server',
      connectionsMax: 1,
      readMsMax: 1000,
      limits: defaultLimits,
      emit: () => {},
    })
    const jit = sql`select current_setting('jit') as jit`
    for (const statement of [jit.statement(), jit.template([], 'other', 'pipelined')([])]) {
      expect(await database.read<{ jit: string }>(statement)).toEqual([{ jit: 'off' }])
    }
    expect(await database.writeOne<{ jit: string }>(jit.statement())).toEqual([{ jit: 'off' }])
    await database.close()
  })

  it('that the server terminates fail immediately, and every request gets a response', async () => {
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
        await observer.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
          await backends('true'),
        ])
      }
      await eventually(() => statuses.has(200))
      state.isDone = true
      await Promise.all(load)
      // 504 would be a request that waited for its deadline on a connection that was closed.
      expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    })
  })
})

describe('a read that PostgreSQL does not cancel', () => {
  it('is 504, holds its slot until its backend has exited, and its backend is terminated', async () => {
    const settings = {
      QUARTERMASTER_READ_MS_MAX: '3000',
      QUARTERMASTER_DATABASE_POOL_MAX: '1',
      QUARTERMASTER_ACCOUNT_READS_MAX: '1',
    }
    await withService(settings, { readWaitMsMax: 500, readGraceMs: 300 }, async (service) => {
      await client.query('begin')
      await client.query('lock table product in access exclusive mode')
      const stuck = longRead(service)
      await eventually(async () => (await waitingForLocks(observer)).length > 0)
      const [pid] = await waitingForLocks(observer)
      if (pid === undefined) throw new Error('The read ended before its backend could be stopped.')
      // A stopped backend handles neither its timeout nor signals.
      process.kill(pid, 'SIGSTOP')
      try {
        const { status, body } = await stuck
        expect([status, body]).toMatchObject([504, { code: 'deadline_exceeded' }])
        await client.query('rollback')
        // A read of the same account waits for its slot, a read of another account for the connection.
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

describe('a read to a server that stops to respond', () => {
  it('is 503 long before its timeout', async () => {
    const proxy = await startSilentProxy(postgres.url)
    const settings = { QUARTERMASTER_READ_MS_MAX: '600000' }
    const lost = await startTestService(proxy.databaseUrl, settings, defaultLimits)
    try {
      expect((await longRead(lost)).status).toBe(200)
      proxy.silenceAfter('zzz')
      const { status, body } = await longRead(lost)
      expect([status, body]).toMatchObject([503, { code: 'database_unavailable' }])
    } finally {
      await lost.close()
      await proxy.close()
    }
  })

  it('runs on if the server responds to others', async () => {
    const { unansweredChecksMax } = defaultLimits
    await withService({ QUARTERMASTER_READ_MS_MAX: '600000' }, { unansweredChecksMax }, async (service) => {
      await client.query('begin')
      await client.query('lock table product in access exclusive mode')
      const slow = longRead(service)
      await eventually(async () => (await waitingForLocks(observer)).length > 0)
      await sleep((unansweredChecksMax + 2) * defaultLimits.primaryCheckMs)
      expect(await waitingForLocks(observer)).toHaveLength(1)
      await client.query('rollback')
      expect((await slow).status).toBe(200)
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
        await eventually(async () => (await waitingForLocks(observer)).length === 2)
        for (let n = 0; n < 3; n++) {
          expect((await service.request(acme, 'GET', '/readyz')).status).toBe(200)
        }
        await client.query('rollback')
        expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200])
      },
    )
  })
})

describe('a process whose packets vanish during a write', () => {
  it('does not keep the account locked', async () => {
    const proxy = await startSilentProxy(postgres.url)
    const lost = await startTestService(proxy.databaseUrl, {}, defaultLimits)
    try {
      expect((await create(lost, 'before')).status).toBe(201)
      // PostgreSQL receives the statement that locks the tally, and nothing more.
      proxy.silenceAfter('Nordwind')
      const unanswered = create(lost, 'unanswered')
      await eventually(async () => (await backends(`state = 'idle in transaction'`)).length > 0)
      await withService({}, {}, async (service) => {
        await eventually(async () => (await create(service, 'after')).status === 201)
      })
      expect((await unanswered).status).toBe(503)
    } finally {
      await lost.close()
      await proxy.close()
    }
  })
})

describe('while no synchronous standby responds', () => {
  const writing = { writeMsMax: 2_000, writeWaitMsMax: 500, accountWriteWaitMsMax: 500 }

  it('a retried create is not acknowledged before a standby has it', async () => {
    await withService({}, writing, async (service) => {
      expect((await create(service, 'first')).status).toBe(201)
      await setSynchronous('absent')
      try {
        const again = await create(service, 'first')
        expect([again.status, again.body]).toMatchObject([503, { code: 'outcome_unknown' }])
      } finally {
        await setSynchronous('')
      }
      await eventually(async () => (await backends(`wait_event = 'SyncRep'`)).length === 0)
      const retried = await create(service, 'first')
      expect([retried.status, retried.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    })
  })

  it('writes time out with their reason, and use no more connections than the pool has', async () => {
    await withService({ QUARTERMASTER_DATABASE_POOL_MAX: '2' }, writing, async (service) => {
      expect((await create(service)).status).toBe(201)
      await setSynchronous('absent')
      try {
        let bodies = ''
        for (let round = 0; round < 2; round++) {
          // They end while the commit still waits for a standby.
          const responses = await Promise.all(Array.from({ length: 4 }, () => create(service)))
          for (const { status, body } of responses) {
            expect(status).toBeGreaterThanOrEqual(429)
            bodies += JSON.stringify(body)
          }
          expect((await backends(`wait_event = 'SyncRep'`)).length).toBeLessThanOrEqual(2)
        }
        expect(bodies).toContain('outcome_unknown')
        expect(bodies).not.toContain('database_unavailable')
      } finally {
        await setSynchronous('')
      }
      await eventually(async () => (await create(service)).status === 201)
    })
  })

  it('the session of a batch can be terminated, so that the server can shut down', async () => {
    await withService({}, {}, async (service) => {
      const sessions = async () => {
        const { rows } = await observer.query<{ pid: number }>(
          `select pid from pg_stat_activity where application_name = 'quartermaster batch'`,
        )
        return rows.map(({ pid }) => pid)
      }
      const response = await service.request(acme, 'POST', `${products}/batch`, {
        headers: { 'content-type': 'application/x-ndjson' },
        body: `${JSON.stringify({ id: 2000, name: 'Hex bolt' })}\n`,
      })
      expect(response.status).toBe(200)
      const before = await sessions()
      expect(before).not.toEqual([])
      await setSynchronous('absent')
      try {
        await observer.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [before])
        await eventually(async () => !(await sessions()).some((pid) => before.includes(pid)))
      } finally {
        await setSynchronous('')
      }
    })
  })

  it('batches end with an unknown outcome, and use no more connections than their pool has', async () => {
    const shortened = { batchWriteMsMax: 1_000, batchWaitMsMax: 500 }
    await withService({}, shortened, async (service) => {
      const batch = (id: number) =>
        service.request(acme, 'POST', `${products}/batch`, {
          headers: { 'content-type': 'application/x-ndjson' },
          body: `${JSON.stringify({ id, name: 'Hex bolt' })}\n`,
        })
      expect((await batch(2001)).status).toBe(200)
      await setSynchronous('absent')
      try {
        const codes: unknown[] = []
        // Each waits for the lock of the one before, or for a connection.
        for (let n = 0; n < 4; n++) codes.push((await batch(2002 + n)).body)
        expect(JSON.stringify(codes)).toContain('outcome_unknown')
        const { rows } = await observer.query(
          `select from pg_stat_activity where application_name = 'quartermaster batch'`,
        )
        expect(rows.length).toBeLessThanOrEqual(defaultLimits.batchConnectionsMax)
      } finally {
        await setSynchronous('')
      }
      await eventually(async () => (await batch(2010)).status === 200)
    })
  })
})
