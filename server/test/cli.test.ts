import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { json } from 'node:stream/consumers'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { cloneDatabase, startTemporaryPostgres } from '../src/cli/database/temporary-postgres.ts'
import { stopAtEnd } from './at-end.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { startSilentProxy } from './silent-proxy.ts'

const postgres = stopAtEnd(await startTemporaryPostgres({ fsync: 'off' }))
const url = await cloneDatabase(postgres.url, 'cli', 'template0')

async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })

describe('quartermaster', () => {
  test('migrates, and then has nothing to do', async () => {
    expect(await run('account', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'quartermaster: The database cli lacks a table: relation "account" does not exist. ' +
        'Run quartermaster migrate.\n',
    })
    const first = await run('migrate', '--json')
    expect(first.code).toBe(0)
    expect(JSON.parse(first.stdout).applied.slice(0, 2)).toEqual(['0001_accounts', '0002_records'])
    expect(await run('migrate')).toEqual({ code: 0, stdout: 'The database is up to date.\n', stderr: '' })
  })

  test('creates an account with a tally for each resource', async () => {
    const created = await run('account', 'create', 'acme', '--json')
    expect(JSON.parse(created.stdout)).toMatchObject({ account_id: 1, name: 'acme', status: 'active' })
    const shown = await run('account', 'show', 'acme', '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({
      name: 'acme',
      keys: { valid: 0, all: 0 },
      tallies: [
        { resource: 'company', total: 0, version: 0, last_id: 0 },
        { resource: 'partner', total: 0, version: 0, last_id: 0 },
        { resource: 'product', total: 0, version: 0, last_id: 0 },
      ],
    })
  })

  test('sets and removes the rate limits of an account and of its keys', async () => {
    expect(await run('account', 'limit', 'acme')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Pass at least one limit, such as --requests COUNT'),
    })
    for (const count of ['0', '-1', '1.5', 'abc', '1000000001']) {
      const rejected = await run('account', 'limit', 'acme', `--requests=${count}`)
      expect([count, rejected.code, rejected.stderr]).toEqual([
        count,
        64,
        expect.stringContaining('It must be an integer from 1 to 1000000000.'),
      ])
    }
    const limitsOf = async (...words: string[]) =>
      JSON.parse((await run('account', ...words, '--json')).stdout)
    expect(await limitsOf('limit', 'acme', '--requests', '600')).toMatchObject({
      requests_per_minute: 600,
      key_requests_per_minute: null,
    })
    expect((await run('account', 'limit', 'acme', '--key-requests', '60')).stdout).toBe(
      'requests per minute: 600; per key: 60\n' +
        'quotas: 2000000 records of each resource, 1000000 results for an Idempotency-Key, 100000 audit entries\n',
    )
    await run('account', 'limit', 'acme', '--requests', 'default')
    expect(await limitsOf('show', 'acme')).toMatchObject({
      requests_per_minute: null,
      key_requests_per_minute: 60,
    })
  })

  test('rejects an existing account, and a name that is not a DNS label', async () => {
    expect(await run('account', 'create', 'acme')).toEqual({
      code: 4,
      stdout: '',
      stderr: 'quartermaster: There is already an account named acme.\n',
    })
    for (const name of ['Acme', '-a', 'a-', 'a.b', 'a_b', '', 'a'.repeat(64)]) {
      const rejected = await run('account', 'create', '--', name)
      expect([name, rejected.code, rejected.stderr]).toEqual([
        name,
        64,
        expect.stringContaining('first label of a host'),
      ])
    }
    expect(await query('select name from account')).toEqual([{ name: 'acme' }])
    expect((await query('select from tally')).length).toBe(3)
  })

  test('lists accounts a page at a time', async () => {
    for (const name of ['zeta', 'beta']) await run('account', 'create', name)
    const first = await run('account', 'list', '--limit', '2')
    expect(first.stdout.split('\n').map((line) => line.split(/\s+/).slice(0, 2))).toEqual([
      ['NAME', 'STATUS'],
      ['acme', 'active'],
      ['beta', 'active'],
      [''],
    ])
    expect(first.stderr).toBe('More accounts: quartermaster account list --after beta\n')
    const rest = await run('account', 'list', '--after', 'beta', '--json')
    expect(JSON.parse(rest.stdout)).toMatchObject({ accounts: [{ name: 'zeta' }], next_after: null })
  })

  test('suspends and activates', async () => {
    expect(JSON.parse((await run('account', 'suspend', 'beta', '--json')).stdout).status).toBe('suspended')
    expect(await query(`select name from account where status = 'suspended'`)).toEqual([{ name: 'beta' }])
    expect((await run('account', 'activate', 'beta')).stdout).toMatch(/^beta: active, created /)
    const unknown = await run('account', 'suspend', 'unknown')
    expect([unknown.code, unknown.stderr]).toEqual([
      3,
      expect.stringContaining('There is no account named unknown.'),
    ])
  })

  test('creates a key, prints it once, and grants account:manage only if requested', async () => {
    const created = await run(
      'key',
      'create',
      '--account',
      'acme',
      '--name',
      'shop',
      '--expires',
      '2099-01-01',
    )
    expect(created.stdout).toMatch(/^qm_[0-9A-Za-z]{36}\n$/)
    expect(created.stderr).not.toContain(created.stdout.trim())
    expect(
      await query(
        `select name, scopes, expires_at, account_id::int, hash = sha256($1::bytea) as hashed from api_key`,
        [Buffer.from(created.stdout.trim())],
      ),
    ).toEqual([
      {
        name: 'shop',
        scopes: ['product:read', 'partner:read', 'partner:create', 'company:read'],
        expires_at: new Date('2099-01-01T00:00:00Z'),
        account_id: 1,
        hashed: true,
      },
    ])
    const all = await run(
      'key',
      'create',
      '--account',
      'beta',
      '--name',
      'ops',
      '--scopes',
      'account:manage',
      '--json',
    )
    expect(JSON.parse(all.stdout)).toMatchObject({
      account: 'beta',
      scopes: ['account:manage'],
      expires_at: null,
    })
  })

  test('rejects an unknown scope, an expiry in the past and a missing name', async () => {
    const create = ['key', 'create', '--account', 'acme']
    for (const [args, message] of [
      [['--name', 'x', '--scopes', 'product:delete'], '"product:delete" is not a scope.'],
      [['--name', 'x', '--expires', '2020-01-01'], 'It must be in the future.'],
      [['--name', ''], 'A key name has 1 to 100 characters'],
      [[], "required option '--name <text>' not specified"],
    ] as const) {
      const rejected = await run(...create, ...args)
      expect([args, rejected.code, rejected.stdout, rejected.stderr]).toEqual([
        args,
        64,
        '',
        expect.stringContaining(message),
      ])
    }
  })

  test("lists an account's own keys and revokes one of them", async () => {
    const [key] = JSON.parse((await run('key', 'list', '--account', 'acme', '--json')).stdout).keys
    expect(key).toMatchObject({ name: 'shop', state: 'active', last_used_on: null })
    const foreign = await run('key', 'revoke', key.key_id, '--account', 'beta')
    expect([foreign.code, foreign.stderr]).toEqual([
      3,
      expect.stringContaining(
        `The account has no key "${key.key_id}". \`quartermaster key list --account beta\``,
      ),
    ])
    expect((await run('key', 'revoke', key.key_id, '--account', 'acme')).code).toBe(0)
    const listed = await run('key', 'list', '--account', 'acme')
    expect(listed.stdout).toMatch(/^KEY ID {4}STATE {4}CREATED/)
    expect(listed.stdout).toContain(`${key.key_id}  revoked  `)
    expect(listed.stdout.trimEnd().endsWith('  shop')).toBe(true)
  })

  test('reports configuration errors in one sentence, without a stack trace', async () => {
    const none = await quartermaster(['account', 'list'], {})
    expect([none.code, none.stdout]).toEqual([1, ''])
    expect(none.stderr).toContain('DATABASE_URL is not set. Example: DATABASE_URL=postgres://')
    expect(none.stderr.trimEnd().split('\n')).toHaveLength(1)
    const wrong = await quartermaster(['account', 'list'], { DATABASE_URL: url, PORT: 'abc' })
    expect(wrong.stderr).toBe(
      'quartermaster: Invalid configuration: PORT must be integer. Set PORT to a valid value, or unset it to use the default.\n',
    )
    const unreachable = await quartermaster(['account', 'list'], {
      DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/x',
    })
    expect(unreachable.stderr).toBe(
      'quartermaster: No PostgreSQL listens at 127.0.0.1:1. Start PostgreSQL there, or correct ' +
        'DATABASE_URL.\n',
    )
    expect((await run('acount')).stderr).toContain('(Did you mean account?)')
  })

  test('does not wait for a server that stops responding after it has accepted the connection', async () => {
    const proxy = await startSilentProxy(url)
    proxy.silenceAfter('pg_is_in_recovery')
    try {
      const silent = new URL(proxy.databaseUrl)
      const withAnother = url.replace('@', `@${silent.host},`)
      const { code, stdout } = await quartermaster(['account', 'list'], { DATABASE_URL: withAnother })
      expect([code, stdout]).toEqual([0, expect.stringContaining('acme')])
      silent.searchParams.set('connect_timeout', '1')
      const alone = await quartermaster(['account', 'list'], { DATABASE_URL: silent.href })
      expect([alone.code, alone.stderr]).toEqual([
        5,
        expect.stringContaining(`${silent.host} does not respond.`),
      ])
    } finally {
      await proxy.close()
    }
  })

  test('starts a temporary PostgreSQL that stops when stdin is closed', async () => {
    const child = spawn(process.execPath, [bin, 'postgres', '--json', '-c', 'work_mem=7MB'], {
      env: environmentWith({}),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const line = await firstLine(child)
    const client = new pg.Client(JSON.parse(line).database_url)
    await client.connect()
    expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }])
    await client.end()
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    await expect(new pg.Client(JSON.parse(line).database_url).connect()).rejects.toThrow('ECONNREFUSED')
  })

  test('serves a demo on a temporary database, and removes it at the end', async () => {
    const child = spawn(process.execPath, [bin, 'demo', '--json', '--port', '0', '--products', '30'], {
      env: environmentWith({}),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    createInterface(child.stdout).on('line', (line) => lines.push(line))
    const {
      base_url: baseUrl,
      account,
      account_host: host,
      key,
      ...rest
    } = JSON.parse(await firstLine(child))
    // No address that only some programs resolve.
    expect([new URL(baseUrl).hostname, rest]).toEqual(['127.0.0.1', {}])
    expect(account).toBe('acme')
    const two = `/api/v1/inventory/product?limit=2`
    const headers = { authorization: `Bearer ${key}` }
    const expected = { data: [{ id: 1 }, { id: 2 }], meta: { count: 2, total: 30 } }
    // The printed address works with fetch and curl.
    expect(await (await fetch(baseUrl + two, { headers })).json()).toMatchObject(expected)
    const curled = execFileSync('curl', ['-sS', '-H', `authorization: Bearer ${key}`, baseUrl + two])
    expect(JSON.parse(curled.toString())).toMatchObject(expected)
    const { servers } = JSON.parse(await (await fetch(`${baseUrl}/openapi.json`)).text())
    const server = new URL(servers[0]?.url ?? 'none', `${baseUrl}/openapi.json`)
    expect(await (await fetch(new URL(two, server), { headers })).json()).toMatchObject(expected)
    // So does the host of the account, at the same address.
    expect(host).toBe('acme.localhost')
    expect(await get(new URL(baseUrl + two), host, key)).toMatchObject(expected)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(lines).toHaveLength(1)
  })

  test('serves a demo on an existing database, and leaves no valid key behind', async () => {
    const child = spawn(
      process.execPath,
      [bin, 'demo', '--json', '--port', '0', '--products', '5', '--account', 'fair'],
      {
        env: environmentWith({ DATABASE_URL: url }),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await firstLine(child)
    const keys = `select scopes, revoked_at is null as valid from api_key k join account a using (account_id)
                  where a.name = 'fair'`
    const scopes = [
      'product:read',
      'product:write',
      'partner:read',
      'partner:create',
      'partner:write',
      'partner:erase',
      'company:read',
      'company:write',
      'account:manage',
    ]
    expect(await query(keys)).toEqual([{ scopes, valid: true }])
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(await query(keys)).toEqual([{ scopes, valid: false }])
    const shown = JSON.parse((await run('account', 'show', 'fair', '--json')).stdout)
    expect(shown.tallies).toMatchObject([
      { resource: 'company', total: 5 },
      { resource: 'partner', total: 1 },
      { resource: 'product', total: 5 },
    ])
  })
})

/** Of its output. Fails if the command ends without one. */
async function firstLine(child: ChildProcessByStdio<Writable | null, Readable, null>): Promise<string> {
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`It ended with ${code}.`)))
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
  ended.catch(() => {})
  return String(line)
}

/** Connects to the loopback address: not every resolver resolves subdomains of localhost. */
async function get(address: URL, host: string, key: string): Promise<unknown> {
  const sent = request(address, { headers: { host, authorization: `Bearer ${key}` } }).end()
  const [response] = await once(sent, 'response')
  return await json(response)
}
