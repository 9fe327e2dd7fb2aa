import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { applyAccount } from '../src/accounts/lifecycle/apply.ts'
import { describedAccounts } from '../src/accounts/lifecycle/description.ts'
import { operator } from '../src/cli/operator.ts'
import { atEnd } from './at-end.ts'
import { quartermaster } from './command.ts'
import { connected } from './database.ts'
import { freshService } from './service.ts'

/** `account apply`, and what a program sees of the commands: exit codes and errors. */

const { url, client, service } = await freshService()
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-apply-'))
atEnd(() => rmSync(folder, { recursive: true, force: true }))
const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })

/** What changes of an account are recorded in its audit log. */
const audited = async (name: string) =>
  (
    await client.query<{ action: string }>(
      'select action from audit join account using (account_id) where name = $1 order by at, id',
      [name],
    )
  ).rows.map(({ action }) => action)

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

async function apply(description: unknown, ...options: string[]) {
  const file = join(folder, 'accounts.json')
  writeFileSync(file, JSON.stringify(description))
  const ended = await run('account', 'apply', file, '--json', ...options)
  return { ...ended, lines: linesOf(ended.stdout) }
}

it('the documented file: shows the difference, makes it, and then finds nothing to do', async () => {
  const [, document = '', commands = ''] =
    /<<'END'\n([\s\S]*?)^END\n([\s\S]*)/m.exec(documented('account-apply')) ?? []
  const file = 'quartermaster account apply accounts.json'
  expect(commands).toBe(`${file} --dry-run\n${file} --json > applied.ndjson\n${file}\n`)
  const description = JSON.parse(document)
  const dry = await apply(description, '--dry-run')
  expect([dry.code, dry.lines.at(-1)]).toEqual([
    0,
    { created: 2, changed: 0, unchanged: 0, failed: 0, dry_run: true },
  ])
  expect((await client.query('select from account')).rowCount).toBe(0)

  const first = await apply(description)
  const [initech, hooli] = ['initech', 'hooli'].map((name) => first.lines.find((line) => line.name === name))
  expect(dry.lines.find((line) => line.name === 'initech').changes).toEqual(initech.changes)
  expect(initech).toMatchObject({ result: 'created', keys: [{ name: 'web shop' }] })
  expect(hooli).toEqual({
    name: 'hooli',
    result: 'created',
    changes: [{ member: 'status', from: 'active', to: 'suspended' }],
    keys: [],
  })
  expect(await audited('initech')).toEqual(['account.create', 'account.limit', 'account.cors', 'key.create'])
  expect(await audited('hooli')).toEqual(['account.create', 'account.suspend'])
  const shown = JSON.parse((await run('account', 'show', 'initech', '--json')).stdout)
  expect(shown).toMatchObject({
    requests_per_minute: 60_000,
    key_requests_per_minute: null,
    records_max: 500_000,
    cors_origins: ['https://shop.example.com'],
    tallies: [{ ids: 'external' }, { ids: 'external' }, { ids: 'external' }],
  })
  const { key } = initech.keys[0]
  const response = await service.request({ name: 'initech', key }, 'GET', '/api/v1/inventory/product')
  expect(response.status).toBe(200)

  const again = await apply(description)
  expect(again.lines).toEqual([{ created: 0, changed: 0, unchanged: 2, failed: 0, dry_run: false }])
  expect(await audited('initech')).toHaveLength(4)
})

it('changes only what differs, and restores defaults', async () => {
  const { lines } = await apply({
    accounts: [
      {
        name: 'initech',
        requests_per_minute: null,
        cors_origins: [],
        keys: [{ name: 'erp', scopes: ['product:write'] }],
      },
      { name: 'hooli', status: 'active', records_max: 7 },
    ],
  })
  const of = (name: string) => lines.find((line) => line.name === name)
  expect(of('initech')).toMatchObject({
    result: 'changed',
    changes: [
      { member: 'requests_per_minute', from: 60_000, to: null },
      { member: 'cors_origins', from: ['https://shop.example.com'], to: [] },
      { member: 'keys', from: null, to: { name: 'erp', scopes: ['product:write'] } },
    ],
  })
  expect(of('hooli').changes).toEqual([
    { member: 'status', from: 'suspended', to: 'active' },
    { member: 'records_max', from: null, to: 7 },
  ])
})

it('creates a key again after it was revoked, and refuses other scopes of a valid one', async () => {
  const description = {
    accounts: [{ name: 'pied-piper', keys: [{ name: 'shop', scopes: ['product:read'] }] }],
  }
  const [created] = (await apply(description)).lines
  await run('key', 'revoke', created.keys[0].key_id, '--account', 'pied-piper')
  const [renewed] = (await apply(description)).lines
  expect(renewed.keys[0].key_id).not.toBe(created.keys[0].key_id)
  const other = await apply({
    accounts: [
      { name: 'pied-piper', keys: [{ name: 'shop', scopes: ['product:write'] }] },
      { name: 'aviato', keys: [] },
    ],
  })
  expect(other.code).toBe(64)
  expect(other.lines.find((line) => line.name === 'pied-piper')).toMatchObject({
    result: 'failed',
    error: { code: 'body_invalid', message: expect.stringContaining('has other scopes: product:read') },
  })
  expect(other.lines.find((line) => line.name === 'aviato').result).toBe('created')
})

it('rejects a file with a wrong member before it changes anything', async () => {
  const wrong = await apply({
    accounts: [
      { name: 'never-created' },
      {
        name: 'other',
        requests_per_minute: 0,
        colour: 'red',
        cors_origins: ['*'],
        keys: [{ name: 'k', scopes: [] }],
      },
    ],
  })
  expect([wrong.code, wrong.stdout]).toEqual([64, ''])
  expect(linesOf(wrong.stderr)[0].error).toMatchObject({
    code: 'body_invalid',
    message: expect.stringMatching(/colour.*and 3 more/),
  })
  expect((await run('account', 'show', 'never-created')).code).toBe(3)
  for (const accounts of [{}, [{}], [{ name: 'twice' }, { name: 'twice' }], [{ name: 'Not a host' }]])
    expect((await apply({ accounts })).code).toBe(64)
})

it('two programs that apply the same file at once create each account and key once', async () => {
  const accounts = Array.from({ length: 40 }, (_, i) => ({
    name: `many-${i}`,
    keys: [{ name: 'shop', scopes: ['product:read'] }],
  }))
  const described = describedAccounts({ accounts })
  const applyOn = async () => {
    const connection = await connected(url)
    const results = []
    for (const description of described) results.push(await applyAccount(connection, operator(), description))
    return results
  }
  const [one, other] = await Promise.all([applyOn(), applyOn()])
  const created = accounts.map((_, i) => new Set([one[i]?.result, other[i]?.result]))
  expect(created.filter((pair) => !pair.has('created') || !pair.has('unchanged'))).toEqual([])
  const { rows } = await client.query(
    `select count(*)::int as keys from api_key join account using (account_id) where account.name like 'many-%'`,
  )
  expect(rows).toEqual([{ keys: 40 }])
})

it('a program can tell errors apart, by exit code and by JSON', async () => {
  const cases = [
    [['account', 'create', 'initech'], 4, 'account_exists'],
    [['account', 'show', 'nobody'], 3, 'account_unknown'],
    [['key', 'revoke', 'abcdefgh', '--account', 'initech'], 3, 'record_unknown'],
    [['account', 'create', 'Not-a-host'], 64, 'request_invalid'],
    [['account', 'limit', 'initech'], 64, 'usage'],
    [['account', 'create'], 64, 'usage'],
    [['account', 'create', 'x', '--unknown'], 64, 'usage'],
    [['account', 'apply', '/does/not/exist'], 64, 'usage'],
  ] as const
  for (const [args, code, error] of cases) {
    const ended = await run(...args, '--json')
    expect([args, ended.code, ended.stdout]).toEqual([args, code, ''])
    expect([args, linesOf(ended.stderr)]).toEqual([
      args,
      [{ error: { code: error, message: expect.any(String) } }],
    ])
  }
  const { account_id: id } = JSON.parse((await run('account', 'show', 'initech', '--json')).stdout)
  const same = await run('account', 'create', 'initech', '--if-not-exists', '--json')
  expect([same.code, JSON.parse(same.stdout).account_id]).toEqual([0, id])
  const down = await quartermaster(['account', 'list', '--json'], {
    DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/x',
  })
  expect([down.code, JSON.parse(down.stderr).error.code]).toEqual([5, 'database_unavailable'])
  expect(readFileSync(join(folder, 'accounts.json'), 'utf8')).not.toContain('qm_')
})
