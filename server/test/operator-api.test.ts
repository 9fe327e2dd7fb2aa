import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { runOn } from '../src/accounts/lifecycle/run-on.ts'
import { createToken, type OperatorScope, operatorScopes } from '../src/accounts/operators/tokens.ts'
import { operator } from '../src/cli/operator.ts'
import { startOperatorService } from '../src/cli/operator-api/operator-service.ts'
import { readConfig } from '../src/config/config.ts'
import { operatorRoutes } from '../src/http/operator/operator-routes.ts'
import type { Event } from '../src/observability/events.ts'
import { atEnd } from './at-end.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** The operator API: every route with every scope on every port, and what its calls do. */

const { url, client, service } = await freshService({ QUARTERMASTER_ADMIN_PORT: '0' })
const events: Event[] = []
const config = readConfig({ QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1' })
const api = await startOperatorService(config, {
  ownerUrl: url,
  host: '127.0.0.1',
  port: 0,
  sweepMs: 100,
  emit: (event) => events.push(event),
})
atEnd(() => api.close())
const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-operator-'))
atEnd(() => rmSync(folder, { recursive: true, force: true }))

const tokenWith = async (...scopes: OperatorScope[]) =>
  (await createToken(runOn(client), operator(), { name: scopes.join(' '), scopes, expiresAt: null })).token
const all = await tokenWith('read', 'provision', 'erase')
const known = await account(client, 'known')

interface Response {
  readonly status: number
  readonly headers: Headers
  readonly body: ReturnType<typeof JSON.parse>
}

async function send(
  method: string,
  path: string,
  {
    token = all,
    body,
    port = api.port,
    headers = {},
  }: { token?: string; body?: unknown; port?: number; headers?: Record<string, string> } = {},
): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

const accounts = '/operator/v1/accounts'
const calls = async () =>
  (
    await client.query<{
      method: string
      path: string
      status: number
      error_code: string | null
      token_name: string
    }>('select method, path, status, error_code, token_name from operator_audit order by at, id')
  ).rows

it('every route × scope × port: only the right scope on its own port gets past 403', async () => {
  const ports = { operator: api.port, public: service.port, admin: service.adminPort ?? 0 }
  let sent = 0
  for (const route of operatorRoutes) {
    const path = route.path.replace('{name}', 'no-account').replace('{key_id}', 'abcdefgh')
    // It gets past the scope, and then changes nothing.
    const body = route.body === undefined ? undefined : { unknown: true }
    for (const scope of operatorScopes) {
      const token = await tokenWith(scope)
      for (const [name, port] of Object.entries(ports)) {
        const { status } = await send(route.method, path, { token, port, body })
        sent++
        const got = name === 'operator' ? (status === 401 || status === 403 ? status : 'passed') : status
        const expected =
          name === 'operator'
            ? scope === route.scope
              ? 'passed'
              : 403
            : name === 'public'
              ? 401
              : route.method === 'GET'
                ? 404
                : 405
        expect([route.method, path, scope, name, got]).toEqual([route.method, path, scope, name, expected])
      }
    }
    for (const token of ['', known.key, `${all.slice(0, -1)}x`, 'qm_op'])
      expect([route.path, (await send(route.method, path, { token, body })).status]).toEqual([
        route.path,
        401,
      ])
  }
  expect(sent).toBe(operatorRoutes.length * 9)
  // The keys of accounts find nothing of it on the public port.
  const { status } = await service.request(known, 'GET', accounts)
  expect(status).toBe(404)
  await send('DELETE', `${accounts}/no-account`)
})

it('every call with a valid token has left a row, with its status and its error', async () => {
  const rows = await calls()
  const refused = rows.filter((row) => row.error_code === 'scope_missing')
  expect(refused).toHaveLength(operatorRoutes.length * 2)
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]))
  expect(rows.filter(({ status }) => status === null)).toEqual([])
  expect(rows.filter(({ status }) => status === 401)).toEqual([])
  const { body } = await send('GET', '/operator/v1/audit?limit=2')
  expect(body.data).toMatchObject([
    { method: 'GET', path: '/operator/v1/audit?limit=2', status: null },
    {
      method: 'DELETE',
      path: `${accounts}/no-account`,
      status: 404,
      error_code: 'account_unknown',
      token_name: 'read provision erase',
    },
  ])
  const older = await send('GET', `/operator/v1/audit?limit=1&before=${body.data[1].id}`)
  expect(older.body.data[0].id < body.data[1].id).toBe(true)
})

it('PUT creates an account, returns what changed, and changes nothing when it is repeated', async () => {
  const description = {
    requests_per_minute: 5000,
    cors_origins: ['https://shop.example.com'],
    keys: [{ name: 'shop', scopes: ['product:read'] }],
  }
  const created = await send('PUT', `${accounts}/globex`, { body: description })
  expect([created.status, created.headers.get('location')]).toEqual([201, `${accounts}/globex`])
  expect(created.headers.get('cache-control')).toBe('no-store')
  const { key } = created.body.data.keys[0]
  expect(created.body.data).toMatchObject({ name: 'globex', result: 'created' })
  expect((await service.request({ name: 'globex', key }, 'GET', '/api/v1/inventory/product')).status).toBe(
    200,
  )
  const again = await send('PUT', `${accounts}/globex`, { body: description })
  expect([again.status, again.body.data]).toEqual([
    200,
    { name: 'globex', result: 'unchanged', changes: [], keys: [] },
  ])
  const changed = await send('PUT', `${accounts}/globex`, { body: { requests_per_minute: null } })
  expect(changed.body.data.changes).toEqual([{ member: 'requests_per_minute', from: 5000, to: null }])
  const { rows } = await client.query(
    `select action, actor, actor_id = (select id from operator_token where name = 'read provision erase') as ours
     from audit join account using (account_id) where account.name = 'globex' order by at, id`,
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'account.create',
    'account.limit',
    'account.cors',
    'key.create',
    'account.limit',
  ])
  expect(rows.every(({ actor, ours }) => actor === 'operator' && ours === true)).toBe(true)
})

it('rejects what it does not understand, and says where', async () => {
  const wrong = await send('PUT', `${accounts}/globex`, { body: { colour: 'red', records_max: -1 } })
  expect([wrong.status, wrong.body.code]).toEqual([400, 'body_invalid'])
  expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/colour',
    '/records_max',
  ])
  expect((await send('PUT', `${accounts}/Not_A_Host`, { body: {} })).status).toBe(400)
  expect((await send('GET', `${accounts}?page=2`)).body.errors[0].code).toBe('parameter_unknown')
  expect((await send('GET', '/operator/v1/usage?top=bytes')).status).toBe(400)
  expect((await send('GET', '/operator/v1/unknown')).status).toBe(404)
  const method = await send('PATCH', `${accounts}/globex`, { body: {} })
  expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
  const text = await send('PUT', `${accounts}/globex`, {
    body: {},
    headers: { 'content-type': 'text/plain' },
  })
  expect(text.status).toBe(415)
})

it('lists, shows, suspends and activates accounts, and manages their keys', async () => {
  const page = await send('GET', `${accounts}?limit=1`)
  expect(page.body).toMatchObject({ data: [{ name: 'globex' }], next_after: 'globex' })
  expect((await send('GET', `${accounts}?after=globex`)).body).toMatchObject({
    data: [{ name: 'known' }],
    next_after: null,
  })
  expect((await send('GET', `${accounts}/globex`)).body.data).toMatchObject({
    keys: { valid: 1 },
    deletion: null,
  })
  const keys = `${accounts}/globex/keys`
  const created = await send('POST', keys, { body: { name: 'erp', scopes: ['product:write'] } })
  expect(created.status).toBe(201)
  const rotated = await send('POST', `${keys}/${created.body.data.key_id}/rotate`, {
    body: { overlap_seconds: 0 },
  })
  expect(rotated.status).toBe(201)
  const revoked = await send('POST', `${keys}/${rotated.body.data.key_id}/revoke`)
  expect(revoked.body.data.state).toBe('revoked')
  const listed = (await send('GET', keys)).body.data
  expect(listed.map(({ state }: { state: string }) => state).toSorted()).toEqual([
    'active',
    'revoked',
    'revoked',
  ])
  expect(JSON.stringify(listed)).not.toContain('qm_')
  const { data: key } = (await send('POST', keys, { body: { name: 'new', scopes: ['product:read'] } })).body
  const read = () => service.request({ name: 'globex', key: key.key }, 'GET', '/api/v1/inventory/product')
  expect((await send('POST', `${accounts}/globex/suspend`)).body.data.status).toBe('suspended')
  expect((await read()).status).toBe(401)
  expect((await send('POST', `${accounts}/globex/activate`)).body.data.status).toBe('active')
  expect((await read()).status).toBe(200)
})

it('shows the accounts that use the most', async () => {
  await client.query(
    `insert into usage (account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts)
     select account_id, 'day', date_trunc('day', now()), 'k', 'GET /x', case name when 'known' then 10 else 99 end,
       case name when 'known' then 7 else 1 end, 0, '{5}', array[case name when 'known' then 1000 else 3 end]
     from account`,
  )
  const topOf = async (top: string) => (await send('GET', `/operator/v1/usage?top=${top}&limit=1`)).body.data
  expect(await topOf('requests')).toMatchObject([{ account: 'globex' }])
  expect(await topOf('errors')).toMatchObject([{ account: 'known', requests: 10, errors: 7 }])
  expect(await topOf('ms')).toMatchObject([{ account: 'known' }])
  const shown = await quartermaster(['usage', '--top', 'errors', '--limit', '1', '--json'], {
    DATABASE_URL: url,
  })
  expect(JSON.parse(shown.stdout)).toEqual({ accounts: await topOf('errors') })
  const table = await quartermaster(['usage', '--top', 'ms', '--days', '1'], { DATABASE_URL: url })
  expect(table.stdout).toMatch(/^REQUESTS +ERRORS +MS +ACCOUNT\n10 +7 +[\d,]+ +known\n/)
})

it('deletes an account: the process runs what is due', async () => {
  await send('PUT', `${accounts}/leaving`, { body: { keys: [{ name: 'shop', scopes: ['product:read'] }] } })
  expect((await send('DELETE', `${accounts}/leaving?grace_seconds=0`)).status).toBe(400)
  expect((await send('DELETE', `${accounts}/leaving?grace_seconds=0&confirm=known`)).status).toBe(400)
  const scheduled = await send('DELETE', `${accounts}/leaving`)
  expect([scheduled.status, scheduled.body.data.state]).toEqual([202, 'scheduled'])
  expect((await send('POST', `${accounts}/leaving/activate`)).status).toBe(200)
  expect((await send('GET', '/operator/v1/deletions/leaving')).status).toBe(404)
  await send('DELETE', `${accounts}/leaving?grace_seconds=0&confirm=leaving`)
  // Otherwise it waits until processes have written their logs.
  await client.query(`update account_deletion set requested_at = now() - interval '1 hour'`)
  const state = async () => (await send('GET', '/operator/v1/deletions/leaving')).body.data
  await eventually(async () => (await state()).state === 'deleted')
  expect((await state()).deleted_rows).toMatchObject({ account: 1, tally: 3, api_key: 1 })
  expect((await send('GET', `${accounts}/leaving`)).status).toBe(404)
  const again = await send('PUT', `${accounts}/leaving`, { body: {} })
  expect([again.status, again.body.code]).toEqual([409, 'account_name_retired'])
})

it('revoked and expired tokens are rejected at once; a token from a file is stored once', async () => {
  const created = JSON.parse(
    (await run('operator', 'token', 'create', '--name', 'ci', '--scopes', 'read', '--json')).stdout,
  )
  expect((await send('GET', accounts, { token: created.token })).status).toBe(200)
  const stored = await client.query('select * from operator_token')
  expect(JSON.stringify(stored.rows)).not.toContain(created.token)
  expect((await run('operator', 'token', 'revoke', created.id)).code).toBe(0)
  expect((await send('GET', accounts, { token: created.token })).status).toBe(401)
  const expiring = await tokenWith('read')
  await client.query(`update operator_token set expires_at = now() where name = 'read'`)
  expect((await send('GET', accounts, { token: expiring })).status).toBe(401)
  const file = join(folder, 'token')
  const other = JSON.parse(
    (await run('operator', 'token', 'create', '--name', 'x', '--scopes', 'read', '--json')).stdout,
  )
  await client.query('delete from operator_token where id = $1', [other.id])
  writeFileSync(file, `${other.token}\n`)
  const fromFile = [
    'operator',
    'token',
    'create',
    '--name',
    'x',
    '--scopes',
    'read',
    '--token-file',
    file,
    '--json',
  ]
  const [first, second] = [await run(...fromFile), await run(...fromFile)]
  expect(first.stdout).not.toContain(other.token)
  expect(JSON.parse(second.stdout)).toEqual(JSON.parse(first.stdout))
  expect((await send('GET', accounts, { token: other.token })).status).toBe(200)
  writeFileSync(file, known.key)
  expect((await run(...fromFile)).code).toBe(64)
})

it('its OpenAPI document has every route and no route of the public API', async () => {
  const { body } = await send('GET', '/operator/v1/openapi.json')
  const documentedRoutes = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(documentedRoutes.toSorted()).toEqual(
    operatorRoutes.map(({ method, path }) => `${method} ${path}`).toSorted(),
  )
  const open = await fetch(`http://127.0.0.1:${service.port}/openapi.json`)
  expect(await open.text()).not.toContain('/operator/')
  const { status } = await send('GET', '/api/v1/inventory/product')
  expect(status).toBe(404)
})

it('the documented commands work as written', async () => {
  const script = `quartermaster() { '${process.execPath}' '${bin}' "$@"; }\n${documented('operator-api').replaceAll('9465', '19465')}`
  const child = spawn('bash', ['-e'], {
    env: environmentWith({ DATABASE_URL: url }),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  child.stdin.end(`set -m\n${script}`)
  const code = await new Promise((resolve) => {
    child.on('close', resolve)
  })
  expect([code, output]).toEqual([0, expect.stringContaining('"name":"umbrella","result":"created"')])
  expect(output).toContain('"next_after":null')
  expect(output).toMatch(/ active .* read,provision +terraform\n/)
})

it('no log line of the process has an account, a path with a name, or a token', () => {
  const text = JSON.stringify(
    events.map((event) => (event.kind === 'request-completed' ? event.route : event)),
  )
  expect(text).toContain('/operator/v1/accounts/:name')
  expect(text).not.toContain('globex')
  expect(text).not.toContain('qm_')
})
