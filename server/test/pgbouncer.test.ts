import { inspect } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { startTemporaryPostgres, type TemporaryPostgres } from '../src/cli/database/temporary-postgres.ts'
import { importRecords } from '../src/import/import-records.ts'
import type { Limits } from '../src/limits/passed-limits.ts'
import type { Connection } from '../src/postgres/connection.ts'
import { stopAtEnd } from './at-end.ts'
import { quartermaster } from './command.ts'
import { account, connected, type TestAccount } from './database.ts'
import { eventually, unlessShed, waitingForLocks } from './eventually.ts'
import { hasPgbouncer, TemporaryPgbouncer } from './pgbouncer.ts'
import { startTestService, type TestService } from './service.ts'

/**
 * Through a real PgBouncer in transaction mode. The login `web` inherits no privilege: it can read only with `set role`.
 * Debian's PgBouncer, 1.18, does not support prepared statements.
 */
describe.runIf(hasPgbouncer)('through PgBouncer in transaction mode', () => {
  let postgres: TemporaryPostgres
  let owner: Connection
  let acme: TestAccount

  beforeAll(async () => {
    postgres = stopAtEnd(await startTemporaryPostgres({ fsync: 'off' }))
    const { code, stderr } = await quartermaster(['migrate'], { DATABASE_URL: postgres.url })
    if (code !== 0) throw new Error(stderr)
    owner = await connected(postgres.url)
    await owner.query(
      'create role web login noinherit; grant quartermaster_server, quartermaster_writer to web',
    )
    // A login with the settings of the service, as an operator may configure it; it inherits the role's privileges.
    await owner.query(
      'create role configured login; grant quartermaster_server, quartermaster_writer to configured',
    )
    await owner.query(
      documented('pgbouncer-session').replaceAll('alter role quartermaster ', 'alter role configured '),
    )
    acme = await account(owner, 'acme')
    const records = Array.from({ length: 3_000 }, (_, at) => ({
      id: at + 1,
      name: `Bolt ${at}`,
      list_price: at,
    }))
    await importRecords({ ownerUrl: postgres.url, account: 'acme', resource: 'product', records })
  })

  async function through(
    user: 'web' | 'configured',
    settings: Readonly<Record<string, string>>,
    environment: Readonly<Record<string, string>>,
    limits: Partial<Limits> = {},
  ): Promise<TestService> {
    const pgbouncer = await TemporaryPgbouncer.start(postgres, ['postgres', 'web', 'configured'], settings)
    onTestFinished(() => pgbouncer.stop())
    const url = pgbouncer.url(postgres.url.replace('postgres@', `${user}@`))
    const service = await startTestService(url, environment, limits)
    onTestFinished(() => service.close())
    return service
  }

  const products = '/api/v1/inventory/product'
  const ignoring = { ignore_startup_parameters: 'options,statement_timeout,lock_timeout' }
  const ready = async ({ port }: TestService) => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    return [response.status, await response.text()] as const
  }

  /** The causes of responses with 500. */
  const internalErrors = ({ events }: TestService) =>
    events.flatMap((event) =>
      event.kind === 'request-failed' && event.code === 'internal' ? inspect(event.cause) : [],
    )

  const requestWithRetry = (service: TestService, path: string) =>
    unlessShed(() => service.request(acme, 'GET', path))

  /** Enough concurrent requests of every kind that PgBouncer switches backends between connections. */
  async function load(service: TestService): Promise<number[]> {
    const paths = Array.from({ length: 240 }, (_, at) =>
      [
        `${products}?limit=5&page=${at + 1}`,
        `${products}/${at + 1}`,
        `${products}?fields=id&filter=list_price>${at}`,
        `${products}?fields=name,id&limit=${at + 1}`,
      ].at(at % 4),
    )
    const statuses = new Set<number>()
    // At most 20 at a time, the number of long reads of an account that may wait.
    for (let from = 0; from < paths.length; from += 20) {
      const batch = paths.slice(from, from + 20).map((path = '') => requestWithRetry(service, path))
      for (const { status } of await Promise.all(batch)) statuses.add(status)
    }
    return [...statuses]
  }

  test('everything works with QUARTERMASTER_DATABASE_POOLER=transaction', async () => {
    const [, name = '', value = ''] = /^export (\w+)=(\w+)\n$/.exec(documented('pgbouncer-transaction')) ?? []
    const pooled = { [name]: value }
    const service = await through('web', { default_pool_size: '4' }, pooled)
    for (let i = 0; i < 4; i++) expect(await load(service)).toEqual([200])
    expect(await ready(service)).toEqual([200, expect.stringContaining('ok')])

    const created = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        service.request(acme, 'POST', '/api/v1/resources/partner', {
          body: JSON.stringify({ name: `Partner ${at % 20}` }),
          headers: {
            'content-type': 'application/json',
            ...(at < 20 ? {} : { 'idempotency-key': `k${at % 20}` }),
          },
        }),
      ),
    )
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]))
    const partners = await owner.query('select count(*)::int as all from partner where account_id = $1', [
      acme.accountId,
    ])
    expect(partners.rows).toEqual([{ all: 40 }])

    const batchOf = async (company: string) => {
      const rows = Array.from(
        { length: 1_500 },
        (_, at) => `{"id":${at + 1},"name":"${company}","branch_user":"${at}"}\n`,
      )
      const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/resources/company/batch`, {
        method: 'POST',
        body: `${rows.join('')}{"$delete":1500}\n`,
        headers: {
          'content-type': 'application/x-ndjson',
          authorization: `Bearer ${acme.key}`,
          'x-forwarded-host': 'acme.localhost',
        },
      })
      return await response.json()
    }
    expect(await batchOf('One')).toMatchObject({ $end: { inserted: 1500, deleted: 1 } })
    expect(await batchOf('Two')).toMatchObject({ $end: { inserted: 1, updated: 1499, deleted: 1 } })

    const exported = await fetch(`http://127.0.0.1:${service.port}${products}?fields=id&filter=name*bolt`, {
      headers: {
        accept: 'application/x-ndjson',
        authorization: `Bearer ${acme.key}`,
        'x-forwarded-host': 'acme.localhost',
      },
    })
    expect((await exported.text()).trimEnd().split('\n').at(-1)).toContain('"count":3000')
    expect((await service.request(acme, 'GET', '/manage/v1/keys')).status).toBe(200)
    const key = {
      body: '{"name":"shop","scopes":["product:read"]}',
      headers: { 'content-type': 'application/json' },
    }
    expect((await service.request(acme, 'POST', '/manage/v1/keys', key)).status).toBe(201)
    expect(
      service.events.filter(({ kind }) => kind === 'request-failed' || kind === 'activity-unwritten'),
    ).toEqual([])
  })

  test('each concurrent request gets its own response', async () => {
    const service = await through(
      'web',
      { default_pool_size: '2' },
      { QUARTERMASTER_DATABASE_POOLER: 'transaction' },
    )
    for (let from = 0; from < 3_000; from += 50) {
      const ids = Array.from({ length: 50 }, (_, at) => from + at + 1)
      const responses = await Promise.all(
        ids.map((id) => requestWithRetry(service, `${products}/${id}?fields=id,name`)),
      )
      expect(responses.map(({ body }) => body)).toEqual(
        ids.map((id) => ({ data: { id, name: `Bolt ${id - 1}` } })),
      )
    }
  })

  test('reads have their statement timeout, and writes their lock timeout', async () => {
    const environment = { QUARTERMASTER_DATABASE_POOLER: 'transaction', QUARTERMASTER_READ_MS_MAX: '2000' }
    const service = await through('web', {}, environment, { writeLockMsMax: 200 })
    expect((await service.request(acme, 'GET', `${products}?limit=1`)).status).toBe(200)
    await owner.query('begin; lock table product in access exclusive mode')
    try {
      const late = await service.request(acme, 'GET', `${products}?filter=name*bolt&limit=3`)
      expect([late.status, late.body]).toMatchObject([504, { code: 'deadline_exceeded' }])
      // PostgreSQL has cancelled the statement: no connection waits for the lock.
      const others = await connected(postgres.url)
      await eventually(async () => (await waitingForLocks(others)).length === 0)
      await others.end()
    } finally {
      await owner.query('rollback')
    }
    expect((await service.request(acme, 'GET', `${products}?filter=name*bolt&limit=3`)).status).toBe(200)
    await owner.query(`begin; select from tally where account_id = ${acme.accountId} for update`)
    try {
      const options = { body: '{"name":"Late"}', headers: { 'content-type': 'application/json' } }
      const rejected = await service.request(acme, 'POST', '/api/v1/resources/partner', options)
      expect([rejected.status, rejected.body]).toMatchObject([
        503,
        {
          detail:
            'The write waited too long for other writes of this account. Nothing was written; try again.',
        },
      ])
    } finally {
      await owner.query('rollback')
    }
  })

  test('dropped settings are reported, and requests are rejected without them', async () => {
    const service = await through('web', ignoring, {})
    const response = await service.request(acme, 'GET', products)
    expect([response.status, response.body]).toMatchObject([
      503,
      {
        code: 'database_unavailable',
        detail:
          'A connection pooler between the service and the database drops settings of the service (enable_seqscan, ' +
          'max_parallel_workers_per_gather, jit, role). The operator must set QUARTERMASTER_DATABASE_POOLER=transaction, or set ' +
          'them for the login: quartermaster doctor shows how.',
      },
    ])
    expect(await ready(service)).toEqual([
      503,
      expect.stringContaining('QUARTERMASTER_DATABASE_POOLER=transaction'),
    ])
  })

  test('a pooler in session mode may ignore the startup parameters if the login has the settings', async () => {
    const service = await through(
      'configured',
      { ...ignoring, pool_mode: 'session', default_pool_size: '40' },
      { QUARTERMASTER_DATABASE_ROLE: '' },
    )
    expect(await ready(service)).toEqual([200, expect.stringContaining('ok')])
    expect((await requestWithRetry(service, `${products}?limit=2`)).status).toBe(200)
  })

  test('lost prepared statements make the process not ready', async () => {
    const service = await through(
      'configured',
      { ...ignoring, default_pool_size: '4' },
      { QUARTERMASTER_DATABASE_ROLE: '' },
    )
    await eventually(async () => {
      const statuses = await load(service)
      expect(internalErrors(service)).toEqual([])
      return statuses.includes(503)
    })
    expect(await ready(service)).toEqual([503, expect.stringContaining('loses prepared statements')])
  })
})
