import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { startTemporaryPostgres, type TemporaryPostgres } from '../src/cli/database/temporary-postgres.ts'
import { cancelRunning } from '../src/postgres/cancel.ts'
import { atEnd, stopAtEnd } from './at-end.ts'
import { Authority, type Certificate } from './certificates.ts'
import { type Environment, quartermaster } from './command.ts'
import { connected } from './database.ts'
import { eventually } from './eventually.ts'
import { TemporaryRedis } from './redis.ts'
import { startTestService, type TestService } from './service.ts'

/** The service with a PostgreSQL and a Redis that accept only TLS with a client certificate, as docs/operating/tls-and-hosts.md describes. */

const authority = new Authority()
const stranger = new Authority()
atEnd(() => {
  authority.remove()
  stranger.remove()
})

const parameters = ({ ca }: Authority, { cert, key }: Certificate) =>
  `sslrootcert=${ca}&sslcert=${cert}&sslkey=${key}`

/** The messages of doctor's problems. */
async function problems(settings: Environment): Promise<string[]> {
  const { stdout } = await quartermaster(['doctor', '--json'], settings)
  return JSON.parse(stdout)
    .findings.filter(({ status }: { status: string }) => status === 'problem')
    .map(({ message }: { message: string }) => message)
}

describe('PostgreSQL', () => {
  let postgres: TemporaryPostgres
  let port: string
  let owner: Certificate
  let web: Certificate
  let ownerUrl: string
  let webUrl: string
  let service: TestService
  let key: string

  const urlOf = (user: string, tls: string, host = 'localhost') =>
    `postgres://${user}@${host}:${port}/postgres?sslmode=verify-full&${tls}`

  async function command(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await quartermaster(args, { DATABASE_OWNER_URL: ownerUrl })
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  beforeAll(async () => {
    const server = authority.issue('server', 'DNS:localhost')
    authority.giveToServer(server)
    postgres = stopAtEnd(
      await startTemporaryPostgres({
        fsync: 'off',
        ssl: 'on',
        ssl_ca_file: authority.ca,
        ssl_cert_file: server.cert,
        ssl_key_file: server.key,
      }),
    )
    port = new URL(postgres.url).port
    const admin = new pg.Client(postgres.url)
    await admin.connect()
    // The common name of the certificate must be the user. Connections without TLS match no line.
    writeFileSync(join(postgres.folder, 'data', 'pg_hba.conf'), 'hostssl all all all cert\n')
    await admin.query('select pg_reload_conf()')
    owner = authority.issue('postgres')
    web = authority.issue('web')
    ownerUrl = urlOf('postgres', parameters(authority, owner))
    webUrl = urlOf('web', parameters(authority, web))
    await command(['migrate'])
    await admin.query('create role web login; grant quartermaster_server, quartermaster_writer to web')
    await admin.end()
    await command(['account', 'create', 'acme'])
    const scopes = ['--scopes', 'product:read,partner:read,partner:create']
    const created = await command([
      'key',
      'create',
      '--account',
      'acme',
      '--name',
      'tls',
      ...scopes,
      '--json',
    ])
    key = JSON.parse(created).key
    const file = join(postgres.folder, 'products.csv')
    writeFileSync(file, 'id,name\n1,Lamp\n2,Desk\n')
    await command(['import', 'product', file, '--account', 'acme'])
    service = await startTestService(webUrl)
  })

  test('lists, writes and exports use TLS on every connection', async () => {
    const acme = { name: 'acme', key }
    const products = '/api/v1/inventory/product'
    expect((await service.request(acme, 'GET', products)).status).toBe(200)
    expect((await service.request(acme, 'GET', `${products}?filter=name*a&limit=1000`)).status).toBe(200)
    const created = await service.request(acme, 'POST', '/api/v1/resources/partner', {
      body: '{"name":"Nordwind"}',
      headers: { 'content-type': 'application/json' },
    })
    expect(created.status).toBe(201)
    const exported = await fetch(`http://127.0.0.1:${service.port}${products}`, {
      headers: {
        'x-forwarded-host': 'acme.localhost',
        authorization: `Bearer ${key}`,
        accept: 'application/x-ndjson',
      },
    })
    expect([exported.status, (await exported.text()).trimEnd().split('\n').length]).toEqual([200, 3])
    const client = new pg.Client(ownerUrl)
    await client.connect()
    const { rows } = await client.query(
      `select distinct ssl, client_dn from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'web'`,
    )
    await client.end()
    expect(rows).toEqual([{ ssl: true, client_dn: '/CN=web' }])
  })

  test('a statement can be cancelled', async () => {
    const client = new pg.Client(ownerUrl)
    await client.connect()
    const observer = await connected(ownerUrl)
    const sleeping = client.query('select pg_sleep(600)').catch((error: unknown) => error)
    // PostgreSQL ignores a request to cancel a statement that it has not begun.
    await eventually(async () => {
      const text = `select from pg_stat_activity where wait_event = 'PgSleep'`
      return (await observer.query(text)).rowCount === 1
    })
    await cancelRunning(client, 60_000)
    expect(await sleeping).toMatchObject({ code: '57014' })
    await client.end()
  })

  test('doctor finds no problem', async () => {
    expect(await problems({ DATABASE_URL: webUrl, DATABASE_OWNER_URL: ownerUrl })).toEqual([])
  })

  test('a server of another authority is rejected', async () => {
    expect(await problems({ DATABASE_URL: urlOf('web', parameters(stranger, web)) })).toEqual([
      `The TLS certificate of PostgreSQL at localhost:${port} is signed by an unknown certificate authority.`,
    ])
  })

  test('a server of another name is rejected', async () => {
    const url = urlOf('web', parameters(authority, web), '127.0.0.1')
    expect(await problems({ DATABASE_URL: url })).toEqual([
      `The TLS certificate of PostgreSQL at 127.0.0.1:${port} is for another host name.`,
    ])
  })

  test('PostgreSQL rejects a client without a certificate, of another authority, and without TLS', async () => {
    const tls = `sslrootcert=${authority.ca}`
    expect((await problems({ DATABASE_URL: urlOf('web', tls) }))[0]).toMatch(/certificate/)
    const foreign = stranger.issue('web')
    expect(
      await problems({ DATABASE_URL: urlOf('web', `${tls}&${parameters(authority, foreign)}`) }),
    ).toHaveLength(1)
    expect((await problems({ DATABASE_URL: `postgres://web@localhost:${port}/postgres` }))[0]).toMatch(
      /no pg_hba.conf entry/,
    )
  })
})

describe('Redis', () => {
  let redis: TemporaryRedis
  let client: Certificate
  const database = { DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none' }

  beforeAll(async () => {
    client = authority.issue('redis-client')
    const server = authority.issue('redis-server', 'DNS:localhost')
    redis = stopAtEnd(
      await TemporaryRedis.startTls({ ca: authority.ca, ...server }, parameters(authority, client)),
    )
  })

  test('the service shares its rate limits', async () => {
    const service = await startTestService(database.DATABASE_URL, { REDIS_URL: redis.url })
    try {
      await eventually(() => service.events.some(({ kind }) => kind === 'rate-limits-shared'))
    } finally {
      await service.close()
    }
  })

  test('doctor finds no problem', async () => {
    const found = await problems({ ...database, REDIS_URL: redis.url })
    expect(found.filter((message) => message.includes('Redis'))).toEqual([])
  })

  test.each([
    [
      'a server of another authority',
      () => `rediss://localhost:${redis.port}?${parameters(stranger, client)}`,
    ],
    ['an unknown authority', () => `rediss://localhost:${redis.port}`],
    ['a server of another name', () => `rediss://127.0.0.1:${redis.port}?${parameters(authority, client)}`],
    ['no client certificate', () => `rediss://localhost:${redis.port}?sslrootcert=${authority.ca}`],
    ['no TLS', () => `redis://localhost:${redis.port}`],
  ])('%s is rejected', async (_, url) => {
    const [problem] = await problems({ ...database, REDIS_URL: url() })
    expect(problem).toMatch(/^Redis at \S+ cannot be used \(/)
  })

  test.each([
    ['rediss://localhost?sslrootcert=/no/such/file', 'names the file /no/such/file, which cannot be read'],
    ['redis://localhost?sslrootcert=/no/such/file', 'begins with redis://, which does not use TLS'],
  ])('%s is a fault of the configuration', async (url, message) => {
    const { code, stderr } = await quartermaster(['serve'], { ...database, REDIS_URL: url })
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })
})
