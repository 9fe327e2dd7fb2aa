import { writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generateKey } from '../src/accounts/key-format.ts'
import { temporaryFolder } from './at-end.ts'
import { quartermaster } from './command.ts'
import { account, type TestAccount } from './database.ts'
import { eventually, passes } from './eventually.ts'
import { freshService, startTestService, type TestService } from './service.ts'

/** What the protocol of CORS needs of a process: lookups, other processes, faults and limits. `acceptance/cors.test.ts` has the rest. */

const shop = 'https://shop.example.com'
const products = '/api/v1/inventory/product'
const manage = '/manage/v1/cors'
/** Longer than any test takes. */
const cached = { corsCachedMs: 3_600_000 }

const { url, client, service } = await freshService({}, cached)
await client.query('create extension if not exists pg_stat_statements')
const acme = await account(client, 'acme')
const beta = await account(client, 'beta')
await service.post(acme, products, { name: 'Bolt' })
expect((await allow(acme, [shop])).status).toBe(200)

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** As a browser would: without a key if there is none, on the host of the account. */
function send(
  to: TestService,
  { name, key }: { name: string; key?: string },
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Received> {
  const host = `${name}.localhost`
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: to.port,
        host: '127.0.0.1',
        method,
        path,
        headers: { host, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

function allow(owner: TestAccount, origins: unknown, of: TestService = service) {
  return of.request(owner, 'PATCH', manage, {
    body: JSON.stringify({ origins }),
    headers: { 'content-type': 'application/json' },
  })
}

const preflightOf = (origin: string) => ({ origin, 'access-control-request-method': 'PATCH' })
const preflight = (to: TestService, name: string, origin = shop, path = `${products}/1`) =>
  send(to, { name }, 'OPTIONS', path, preflightOf(origin))

/** The statements of lookups and of key verifications that the serving role ran during `work`. */
async function statementsOf(work: () => Promise<unknown>): Promise<{ origins: number; keys: number }> {
  const before = await calls()
  await work()
  const after = await calls()
  return { origins: after.origins - before.origins, keys: after.keys - before.keys }
}

async function calls(): Promise<{ origins: number; keys: number }> {
  const { rows } = await client.query<{ origins: number; keys: number }>(
    `select coalesce(sum(s.calls) filter (where query like '%cors_origins%'), 0)::int as origins,
       coalesce(sum(s.calls) filter (where query like '%api_key%' and query not like '%last_used_on%'), 0)::int as keys
     from pg_stat_statements s join pg_database d on d.oid = s.dbid join pg_roles r on r.oid = s.userid
     where d.datname = current_database() and r.rolname = 'quartermaster_server'`,
  )
  return rows[0] ?? { origins: 0, keys: 0 }
}

it('an allowed preflight costs no statement after the first, and no key is looked up', async () => {
  expect((await preflight(service, 'acme')).status).toBe(204)
  const work = async () => {
    for (let i = 0; i < 5; i++) expect((await preflight(service, 'acme')).status).toBe(204)
  }
  expect(await statementsOf(work)).toEqual({ origins: 0, keys: 0 })
})

it.each([
  ['of another origin of an account that allows one', 'acme', 'https://other.example.com'],
  ['of an account that allows none', 'beta', shop],
  ['of a host that does not exist', 'nowhere', shop],
])(
  'a preflight %s takes the same statement every time, and gets the 401 of today',
  async (_, name, origin) => {
    for (let i = 0; i < 3; i++) {
      const statements = await statementsOf(async () => {
        const { status, headers, text } = await preflight(service, name, origin)
        const today = await send(service, { name }, 'OPTIONS', `${products}/1`)
        expect([status, Object.keys(headers)]).toEqual([401, Object.keys(today.headers)])
        expect(withoutId(text)).toBe(withoutId(today.text))
      })
      expect(statements).toEqual({ origins: 1, keys: 0 })
    }
  },
)

const withoutId = (text: string) => text.replace(/"request_id":"[^"]+"/, '')

it.each([
  ['without Origin', {}],
  ['of the same origin', { origin: 'http://beta.localhost' }],
  ['with an opaque origin', { origin: 'null' }],
  ['with two origins', { origin: `${shop}, ${shop}` }],
  ['with a key as origin', { origin: `https://${generateKey()}` }],
])('a request %s is not looked up', async (_, headers) => {
  const work = () => send(service, beta, 'GET', products, headers)
  expect(await statementsOf(work)).toMatchObject({ origins: 0 })
})

it('each origin gets its own header with the same cached list, also in a 304', async () => {
  const tool = 'http://localhost:5173'
  await allow(acme, [shop, tool])
  const plain = await send(service, acme, 'GET', products)
  expect(plain.headers).toMatchObject({ vary: 'accept, accept-encoding' })
  expect(plain.headers).not.toHaveProperty('access-control-allow-origin')
  for (const origin of [shop, tool, shop]) {
    const found = await send(service, acme, 'GET', products, { origin })
    expect(found.text).toBe(plain.text)
    expect(found.headers).toMatchObject({
      'access-control-allow-origin': origin,
      vary: 'accept, accept-encoding, origin',
      etag: plain.headers.etag,
    })
    const unchanged = await send(service, acme, 'GET', products, {
      origin,
      'if-none-match': plain.headers.etag ?? '',
    })
    expect([unchanged.status, unchanged.headers['access-control-allow-origin']]).toEqual([304, origin])
  }
  const other = await send(service, acme, 'GET', products, { origin: 'https://other.example.com' })
  expect([other.text, other.headers.vary]).toEqual([plain.text, plain.headers.vary])
  expect(Object.keys(other.headers)).toEqual(Object.keys(plain.headers))
})

it('a change holds in another process, when the time for which an origin is cached is over', async () => {
  const hasty = await startTestService(url, {}, { corsCachedMs: 20 })
  await allow(acme, [shop])
  expect((await preflight(hasty, 'acme')).status).toBe(204)
  await allow(acme, [])
  await passes(async () => expect((await preflight(hasty, 'acme')).status).toBe(401))
  await allow(acme, [shop])
  expect((await preflight(hasty, 'acme')).status).toBe(204)
})

it('preflights beyond the limit of an address get the 401, and those of another account are not affected', async () => {
  await allow(acme, [shop])
  await allow(beta, [shop])
  const strict = await startTestService(url, {}, { ...cached, corsPreflightsMax: 3 })
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) statuses.push((await preflight(strict, 'acme')).status)
  expect(statuses).toEqual([204, 204, 204, 401, 401])
  expect((await preflight(strict, 'beta')).status).toBe(204)
  const found = await send(strict, acme, 'GET', products, { origin: shop })
  expect([found.status, found.headers['access-control-allow-origin']]).toEqual([200, shop])
  expect(found.headers['ratelimit']).toMatch(/"account";r=59999/)
  await allow(beta, [])
})

it('a page can read a 429 of the rate limit', async () => {
  const limited = await startTestService(url, { QUARTERMASTER_REQUESTS_PER_MINUTE: '1' }, cached)
  const get = () => send(limited, acme, 'GET', products, { origin: shop })
  expect((await get()).status).toBe(200)
  const { status, headers } = await get()
  expect([status, headers['access-control-allow-origin']]).toEqual([429, shop])
  expect(headers['access-control-expose-headers']).toContain('Retry-After')
})

it('a page can read a 503 of an overloaded process, which is sent before anything is looked up', async () => {
  const full = await startTestService(url, {}, { ...cached, requestsWaitingMin: 1, requestsWaitingMax: 1 })
  await eventually(async () => (await send(full, acme, 'GET', products, { origin: shop })).status === 200)
  await client.query('begin')
  await client.query('lock table api_key in access exclusive mode')
  const waiting = send(full, acme, 'GET', products)
  try {
    await eventually(async () => {
      const { status, headers } = await send(full, acme, 'GET', products, { origin: shop })
      if (status !== 503) return false
      expect(headers).toMatchObject({
        'access-control-allow-origin': shop,
        vary: 'origin',
        'retry-after': '1',
      })
      return true
    })
    const { status, headers } = await send(full, acme, 'GET', products, {
      origin: 'https://other.example.com',
    })
    expect(status).toBe(503)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  } finally {
    await client.query('rollback')
  }
  expect((await waiting).status).toBe(200)
})

it('while the origins cannot be read, those that were allowed last are', async () => {
  const cut = await startTestService(url, {}, { corsCachedMs: 0, pipelinedMsMax: 200 })
  await eventually(async () => (await preflight(cut, 'acme')).status === 204)
  await client.query('begin')
  await client.query('lock table cors_origins in access exclusive mode')
  try {
    const [known, unknown] = await Promise.all([
      preflight(cut, 'acme'),
      preflight(cut, 'acme', 'https://other.example.com'),
    ])
    expect([known.status, unknown.status]).toEqual([204, 401])
  } finally {
    await client.query('rollback')
  }
})

it('every change is in the audit log; the same list again is not; a full log does not prevent a removal', async () => {
  const gamma = await account(client, 'gamma')
  const changes = async () => {
    const { rows } = await client.query<{ subject: string; details: string; actor: string }>(
      `select subject, details, actor from audit where account_id = $1 and action = 'account.cors' order by at, id`,
      [gamma.accountId],
    )
    return rows
  }
  expect((await allow(gamma, [shop])).status).toBe(200)
  expect((await allow(gamma, [shop])).status).toBe(200)
  const added = { subject: 'gamma', details: `1: ${shop}`, actor: 'key' }
  expect(await changes()).toEqual([added])
  await client.query('update account set audit_rows_max = 0 where account_id = $1', [gamma.accountId])
  const full = await allow(gamma, [shop, 'https://b.example.com'])
  expect([full.status, full.body]).toMatchObject([409, { code: 'audit_exhausted' }])
  expect((await service.request(gamma, 'GET', manage)).body).toEqual({ data: { origins: [shop] } })
  expect((await allow(gamma, [])).status).toBe(200)
  expect(await changes()).toEqual([added, { subject: 'gamma', details: 'no origin', actor: 'key' }])
})

it('the command shows, replaces and empties the list, and rejects what is not an origin', async () => {
  const run = (...args: string[]) => quartermaster(['account', ...args], { DATABASE_URL: url })
  const set = await run('cors', 'beta', '--allow', shop, '--allow', 'http://localhost:5173', '--json')
  expect(JSON.parse(set.stdout)).toEqual({ cors_origins: [shop, 'http://localhost:5173'] })
  expect((await run('show', 'beta')).stdout).toContain(
    `origins of browsers: ${shop}, http://localhost:5173\n`,
  )
  expect(JSON.parse((await run('show', 'beta', '--json')).stdout)).toMatchObject({
    cors_origins: [shop, 'http://localhost:5173'],
  })
  const wrong = await run('cors', 'beta', '--allow', 'https://Shop.example.com/')
  expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining(`Did you mean ${shop}?`)])
  const both = await run('cors', 'beta', '--allow', shop, '--none')
  expect([both.code, both.stderr]).toEqual([64, expect.stringContaining('cannot be used with')])
  expect((await run('cors', 'beta')).stdout).toBe(`origins of browsers: ${shop}, http://localhost:5173\n`)
  expect((await run('cors', 'beta', '--none')).stdout).toBe('origins of browsers: none\n')
  const unknown = await run('cors', 'nobody')
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('no account named nobody')])
})

it('a suspended account keeps its list, and a page can read the 401', async () => {
  const delta = await account(client, 'delta')
  await allow(delta, [shop])
  await client.query(`update account set status = 'suspended' where account_id = $1`, [delta.accountId])
  const { status, headers } = await send(service, delta, 'GET', products, { origin: shop })
  expect([status, headers['access-control-allow-origin']]).toEqual([401, shop])
})

it('an archive has the list: a restored account has it, and one that is replaced keeps its own', async () => {
  await allow(acme, [shop])
  const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })
  const file = join(temporaryFolder('cors'), 'acme.ndjson')
  writeFileSync(file, (await run('account', 'export', 'acme')).stdout)
  const restore = (...args: string[]) => run('account', 'restore', file, ...args)
  expect((await restore('--as', 'copy')).code).toBe(0)
  const listOf = async (name: string) => (await run('account', 'cors', name)).stdout
  expect(await listOf('copy')).toBe(`origins of browsers: ${shop}\n`)
  await run('account', 'cors', 'copy', '--allow', 'https://copy.example.com')
  expect((await restore('--as', 'copy', '--replace')).code).toBe(0)
  expect(await listOf('copy')).toBe('origins of browsers: https://copy.example.com\n')
})
