import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  freePort,
  startTemporaryPostgres,
  type TemporaryPostgres,
} from '../src/cli/database/temporary-postgres.ts'
import { stopAtEnd } from './at-end.ts'
import { type Environment, quartermaster } from './command.ts'
import { eventually } from './eventually.ts'
import { hasPgbouncer, TemporaryPgbouncer } from './pgbouncer.ts'
import { TemporaryRedis } from './redis.ts'

/** What doctor and serve report if an address is unreachable, or leads to a different server. */

async function findings(settings: Environment) {
  const { stdout, stderr } = await quartermaster(['doctor', '--json'], settings)
  // Doctor prints findings to stdout only; an unexpected error would be on stderr.
  expect(stderr).toBe('')
  const found: { status: string; check: string; message: string; repair: string }[] =
    JSON.parse(stdout).findings
  return found
}

async function faults(settings: Environment): Promise<string[][]> {
  return (await findings(settings))
    .filter(({ status }) => status === 'problem')
    .map(({ message, repair }) => [message, repair])
}

describe('settings', () => {
  test('that are empty count as unset', async () => {
    const empty = {
      REDIS_URL: '',
      DATABASE_URL: '',
      DATABASE_OWNER_URL: '',
      QUARTERMASTER_DEFAULT_ACCOUNT: '',
      QUARTERMASTER_ADMIN_PORT: '',
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      PORT: '',
      QUARTERMASTER_LOG_LEVEL: '',
    }
    expect(await faults(empty)).toEqual(await faults({}))
    expect(await faults({})).toEqual([['DATABASE_URL is not set.', expect.any(String)]])
    const served = await quartermaster(['serve'], empty)
    expect([served.code, served.stderr]).toEqual([
      1,
      'quartermaster: DATABASE_URL is not set. Example: DATABASE_URL=postgres://user:password@localhost:5432/quartermaster\n',
    ])
  })

  test.each([
    ['REDIS_URL', 'postgres://x', 'REDIS_URL does not begin with redis:// or rediss://.'],
    ['REDIS_URL', 'redis://:x:y', 'REDIS_URL is not a valid URL.'],
    ['DATABASE_URL', 'mysql://x', 'DATABASE_URL does not begin with postgres://.'],
    ['DATABASE_URL', 'postgres://a:hunter2@h:99999/x', 'DATABASE_URL is not valid: '],
    ['DATABASE_URL', 'postgres://a:hunter2@h1:5432,h2:x/x', 'DATABASE_URL is not valid: '],
    ['DATABASE_URL', 'postgres://a:hunter2/x@h/y', 'DATABASE_URL is not valid: '],
    ['DATABASE_URL', 'postgres://a@h/y?target_session_attrs=standby', 'DATABASE_URL is not valid: '],
    [
      'DATABASE_URL',
      'postgres://a:hunter2@h/x?sslmode=verify-full&sslrootcert=/no/such/file',
      'DATABASE_URL names the file /no/such/file, which cannot be read.',
    ],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://:1', 'OTEL_EXPORTER_OTLP_ENDPOINT is not a valid URL.'],
  ])('%s=%s stops serve immediately, and doctor reports it', async (variable, value, message) => {
    const settings = { DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none', [variable]: value }
    const { code, stderr } = await quartermaster(['serve', '--port', '0'], settings)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^quartermaster: Invalid configuration: [^\n]*\n$/)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('hunter2')
    expect((await faults(settings)).map(([reported]) => reported).join('\n')).toContain(message)
  })

  test('may name several servers, and no part of a password is printed', async () => {
    const settings = { DATABASE_URL: 'postgres://a:hun@ter2@127.0.0.1:1,127.0.0.1:2/x' }
    const printed = JSON.stringify(await findings(settings))
    expect(printed).toContain('No PostgreSQL listens at 127.0.0.1:1, 127.0.0.1:2.')
    expect(printed).not.toMatch(/hun|ter2/)
  })
})

describe('Redis', () => {
  test('that is down, that requires a password, and that is available', async () => {
    const port = await freePort()
    const dead = {
      DATABASE_URL: 'postgres://unknown@127.0.0.1:1/none',
      REDIS_URL: `redis://127.0.0.1:${port}`,
    }
    const [first] = await faults(dead)
    expect(first).toEqual([
      expect.stringMatching(new RegExp(`^Redis at 127.0.0.1:${port} cannot be used \\(.*ECONNREFUSED.*\\)`)),
      expect.stringContaining('REDIS_URL'),
    ])
    const redis = await TemporaryRedis.start()
    try {
      const alive = (await findings({ ...dead, REDIS_URL: redis.url })).filter(
        ({ check }) => check === 'redis',
      )
      expect(alive).toEqual([
        {
          check: 'redis',
          status: 'ok',
          message: `Redis at 127.0.0.1:${redis.port} responds: all processes share their rate limits.`,
        },
      ])
      const [wrongUser] = await faults({ ...dead, REDIS_URL: `redis://me:hunter2@127.0.0.1:${redis.port}` })
      expect(wrongUser?.[0]).toMatch(/WRONGPASS/)
      expect(wrongUser?.[0]).not.toContain('hunter2')
    } finally {
      await redis.stop()
    }
  })
})

describe('TLS', () => {
  let postgres: TemporaryPostgres
  let host: string

  beforeAll(async () => {
    postgres = stopAtEnd(await startTemporaryPostgres({ fsync: 'off' }))
    host = new URL(postgres.url).host
    const data = join(postgres.folder, 'data')
    const [key, certificate] = [join(data, 'server.key'), join(data, 'server.crt')]
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=elsewhere.example',
        '-keyout',
        key,
      ].concat(['-addext', 'subjectAltName=DNS:elsewhere.example', '-out', certificate]),
      { stdio: 'ignore' },
    )
    const { uid, gid } = statSync(data)
    for (const file of [key, certificate]) {
      chownSync(file, uid, gid)
      chmodSync(file, 0o600)
    }
    const client = new pg.Client(postgres.url)
    await client.connect()
    await client.query('alter system set ssl = on')
    await client.query('select pg_reload_conf()')
    await client.end()
    await eventually(async () => {
      const secured = new pg.Client(`${postgres.url}?sslmode=no-verify`)
      try {
        await secured.connect()
        await secured.end()
        return true
      } catch {
        return false
      }
    })
  })

  test('failures are reported in one sentence: unknown authority, wrong host name', async () => {
    expect(await faults({ DATABASE_URL: `${postgres.url}?sslmode=verify-full` })).toEqual([
      [
        `The TLS certificate of PostgreSQL at ${host} is signed by an unknown certificate authority.`,
        'Add sslrootcert=FILE to DATABASE_URL, with the certificate of that authority. sslmode=no-verify encrypts without verifying.',
      ],
    ])
    const trusted = `sslmode=verify-full&sslrootcert=${join(postgres.folder, 'data', 'server.crt')}`
    expect(await faults({ DATABASE_URL: `${postgres.url}?${trusted}` })).toEqual([
      [
        `The TLS certificate of PostgreSQL at ${host} is for another host name.`,
        expect.stringContaining('Set DATABASE_URL to the host name'),
      ],
    ])
  })
})

describe.runIf(hasPgbouncer)('a pooler', () => {
  let postgres: TemporaryPostgres
  const ignoring = { ignore_startup_parameters: 'options,statement_timeout,lock_timeout' }

  beforeAll(async () => {
    postgres = stopAtEnd(await startTemporaryPostgres({ fsync: 'off' }))
    const { code, stderr } = await quartermaster(['migrate'], { DATABASE_URL: postgres.url })
    if (code !== 0) throw new Error(stderr)
    await asOwner('create role web login; grant quartermaster_server, quartermaster_writer to web')
  })

  async function asOwner(text: string): Promise<void> {
    const client = new pg.Client(postgres.url)
    await client.connect()
    await client.query(text)
    await client.end()
  }

  /** Runs `inspect` against a PgBouncer with these settings. */
  async function through(
    pooling: Readonly<Record<string, string>>,
    inspect: (settings: Environment, pgbouncer: TemporaryPgbouncer) => Promise<void>,
  ): Promise<void> {
    const pgbouncer = await TemporaryPgbouncer.start(postgres, ['postgres', 'web'], pooling)
    const web = pgbouncer.url(postgres.url.replace('postgres@', 'web@'))
    try {
      await inspect({ DATABASE_OWNER_URL: postgres.url, DATABASE_URL: web }, pgbouncer)
    } finally {
      await pgbouncer.stop()
    }
  }

  const lost = [
    'A connection pooler uses another backend for every transaction: prepared statements and settings are lost.',
    'export QUARTERMASTER_DATABASE_POOLER=transaction; or use session pooling (PgBouncer: pool_mode = session).',
  ]

  test('that rejects startup parameters is detected; with QUARTERMASTER_DATABASE_POOLER=transaction nothing is wrong', async () => {
    await through({ pool_mode: 'transaction' }, async (settings) => {
      expect(await faults(settings)).toEqual([
        [
          expect.stringMatching(
            /is a connection pooler that rejects serving connections: unsupported startup parameter/,
          ),
          'export QUARTERMASTER_DATABASE_POOLER=transaction',
        ],
      ])
      expect(await faults({ ...settings, QUARTERMASTER_DATABASE_POOLER: 'transaction' })).toEqual([])
    })
  })

  test('that ignores the role and settings of a connection is detected', async () => {
    await through({ pool_mode: 'session', ...ignoring }, async (settings, pgbouncer) => {
      const found = await faults(settings)
      expect(found.map(([message]) => message)).toEqual([
        'Serving connections have enable_seqscan = on instead of off: a connection pooler ignores the setting.',
        'Serving connections have max_parallel_workers_per_gather = 2 instead of 0: a connection pooler ignores the setting.',
        'Serving connections have jit = on instead of off: a connection pooler ignores the setting.',
        'Requests would be served as the login role instead of quartermaster_server: a connection pooler ignores the role.',
      ])
      expect(await faults({ ...settings, QUARTERMASTER_DATABASE_POOLER: 'transaction' })).toEqual([])
      // The alternative repair of each finding, run unchanged.
      for (const [, repair] of found.slice(0, 3)) await asOwner(repair?.split('or: ')[1] ?? '')
      await pgbouncer.reconnect(postgres.url)
      expect(await faults({ ...settings, QUARTERMASTER_DATABASE_ROLE: '' })).toEqual([])
    })
  })

  test('in transaction mode is detected, with server_round_robin too', async () => {
    for (const server_round_robin of ['0', '1']) {
      const pooling = { pool_mode: 'transaction', min_pool_size: '2', server_round_robin, ...ignoring }
      await through(pooling, async (settings) => {
        expect(await faults({ ...settings, QUARTERMASTER_DATABASE_ROLE: '' })).toEqual([lost])
        expect(await faults({ ...settings, QUARTERMASTER_DATABASE_POOLER: 'transaction' })).toEqual([])
      })
    }
  })
})
