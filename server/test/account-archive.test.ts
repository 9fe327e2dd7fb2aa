import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { archiveTables } from '../src/archive/archive-format.ts'
import { exportAccount } from '../src/archive/export-account.ts'
import { accountRestore, type RestoreParameters } from '../src/cli/commands/archive-command.ts'
import { demoCompanies, demoPartners, demoProducts } from '../src/cli/demo/demo-data.ts'
import { importRecords } from '../src/import/import-records.ts'
import { limits } from '../src/limits/limits.ts'
import { temporaryFolder } from './at-end.ts'
import { bin, type Ended, environmentWith, quartermaster } from './command.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService, startTestService } from './service.ts'

const partners = '/api/v1/resources/partner'
const folder = temporaryFolder('archive')
const file = join(folder, 'acme.ndjson')
/** Texts that JSON, COPY or a line-based format could change. */
const unusualTexts = [
  'quote " backslash \\ \\n \\. slash /',
  'line\nfeed, return\r, tab\t',
  'control \u0001\u0002\u001f\u007f',
  '{"$end":{"rows":0}}',
  'Ünïcödé 日本語 🧰 \u2028',
  '',
]

const { url, client, service } = await freshService()
const acme = await account(client, 'acme')
const neighbour = await account(client, 'neighbour')
for (const { name } of [acme, neighbour]) {
  const ownerUrl = url
  await importRecords({ ownerUrl, account: name, resource: 'product', records: demoProducts(700) })
  await importRecords({ ownerUrl, account: name, resource: 'partner', records: demoPartners(650) })
  await importRecords({ ownerUrl, account: name, resource: 'company', records: demoCompanies(3) })
}
const unusual = unusualTexts.map((text, i) => ({ id: 9_000 + i, name: `x${text}`, default_code: text }))
const exact = { id: 9_100, name: 'exact', list_price: '-123456789012345678901234.123456789012' }
await importRecords({ ownerUrl: url, account: 'acme', resource: 'product', records: [...unusual, exact] })
await run('account', 'limit', 'acme', '--requests', '5000000')
await run('key', 'create', '--account', 'acme', '--name', 'expiring', '--expires', '90d')
expect(await create(acme, 'before the export', 'key-1')).toMatchObject({
  status: 201,
  body: { data: { id: 651 } },
})
const exportOfAcme = await run('account', 'export', 'acme')
expect([exportOfAcme.code, exportOfAcme.stderr]).toEqual([
  0,
  expect.stringMatching(/^1,3\d\d rows in [\d.]+ s/),
])
writeFileSync(file, exportOfAcme.stdout)

function run(...args: string[]): Promise<Ended> {
  return quartermaster(args, { DATABASE_URL: url })
}

function create(owner: TestAccount, name: string, idempotencyKey: string) {
  return service.request(owner, 'POST', partners, {
    body: JSON.stringify({ name }),
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
  })
}

/** Restores an archive from standard input, in this process. */
async function restore(bytes: Buffer | PassThrough, parameters: Partial<RestoreParameters>) {
  const stdin = bytes instanceof PassThrough ? bytes : new PassThrough()
  if (stdin !== bytes) stdin.end(bytes)
  const stdout = new PassThrough()
  let stderr = ''
  const write = (text: string) => {
    stderr += text
  }
  const defaults = { name: undefined, replace: false, keys: true, json: false }
  const code = await accountRestore(
    url,
    '-',
    { ...defaults, ...parameters },
    { stdin, stdout, stderr: { write } },
  )
  return { code, stdout: String(stdout.read() ?? ''), stderr }
}

/** All rows of an account in a table, as PostgreSQL prints them, without the account's id. */
async function rowsOf(name: string, table: string): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    `select (to_jsonb(t) - 'account_id')::text as row from ${table} t
     where account_id = (select account_id from account where name = $1) order by 1`,
    [name],
  )
  return rows.map(({ row }) => row)
}

/** The row versions (xmin) are included: a row that was written again with the same content would be detected. */
async function checksumOf(condition: string): Promise<string> {
  const hash = createHash('sha256')
  for (const table of archiveTables) {
    const { rows } = await client.query<{ row: string }>(
      `select t.xmin::text || to_jsonb(t)::text as row from ${table} t join account a using (account_id)
       where ${condition} order by 1`,
    )
    for (const { row } of rows) hash.update(`${table} ${row}\n`)
  }
  return hash.digest('hex')
}

const everything = 'true'
const others = `a.name not in ('acme', 'copy')`
const neitherAcmeNorNeighbour = `a.name not in ('acme', 'neighbour')`

async function tallyIsLocked(name: string): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from tally where resource = 'partner'
       and account_id = (select account_id from account where name = $1) for update skip locked`,
    [name],
  )
  return rows.length === 0
}

describe('an archive restored under another name', () => {
  it('has the same rows, ids and keys, and does not change other accounts', async () => {
    const before = await checksumOf(others)
    const restored = await run('account', 'restore', file, '--as', 'copy', '--json')
    expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(/^1,3\d\d rows in /) })
    expect(JSON.parse(restored.stdout)).toMatchObject({
      name: 'copy',
      replaced: false,
      keys_added: 2,
      records: { product: 707, partner: 651, company: 3 },
    })
    for (const table of ['product', 'partner', 'company', 'api_key', 'idempotency']) {
      const expected = await rowsOf('acme', table)
      expect(expected.length, table).toBeGreaterThan(0)
      expect(await rowsOf('copy', table), table).toEqual(expected)
    }
    const audit = await rowsOf('copy', 'audit')
    expect(audit).toEqual(expect.arrayContaining(await rowsOf('acme', 'audit')))
    expect(audit.join()).toContain('account.restore')
    expect(await checksumOf(others)).toBe(before)
  })

  it('has the totals and last ids of the export, one version later', async () => {
    const talliesOf = async (name: string) => {
      const { stdout } = await run('account', 'show', name, '--json')
      return JSON.parse(stdout)
    }
    const [original, copy] = [await talliesOf('acme'), await talliesOf('copy')]
    expect(copy).toMatchObject({ requests_per_minute: 5_000_000, created_at: original.created_at })
    expect(copy.tallies).toEqual(
      original.tallies.map((tally: { version: number }) => ({ ...tally, version: tally.version + 1 })),
    )
    expect((await run('doctor', '--account', 'copy')).code).toBe(0)
  })

  it('accepts its keys, and retries of creates that were made before the export', async () => {
    const copy = { ...acme, name: 'copy' }
    const list = await service.request(copy, 'GET', `${partners}?filter=id=651&fields=name`)
    expect(list).toMatchObject({ status: 200, body: { data: [{ name: 'before the export' }] } })
    expect(await create(copy, 'before the export', 'key-1')).toMatchObject({
      status: 201,
      body: { data: { id: 651 } },
    })
    expect(await create(copy, 'after the restore', 'key-2')).toMatchObject({
      status: 201,
      body: { data: { id: 652 } },
    })
  })

  it('has no keys with --no-keys, and can be read from gzip on standard input', async () => {
    const bytes = gzipSync(readFileSync(file))
    expect(await restore(bytes, { name: 'keyless', keys: false })).toMatchObject({ code: 0 })
    expect(await rowsOf('keyless', 'api_key')).toEqual([])
    expect(await rowsOf('keyless', 'product')).toEqual(await rowsOf('acme', 'product'))
  })
})

describe('a restore is refused, and changes nothing,', () => {
  const lines = () => readFileSync(file, 'utf8').split('\n')
  const cases: readonly [string, () => string, string][] = [
    ['if the account exists', () => lines().join('\n'), 'There is already an account named acme.'],
    ['if the last line is missing', () => lines().slice(0, -2).join('\n'), 'its last line is missing'],
    ['if the file ends within a line', () => readFileSync(file, 'utf8').slice(0, 30_000), 'truncated'],
    ['if a row is missing', () => lines().toSpliced(200, 1).join('\n'), 'its checksum does not match'],
    ['if one digit differs', () => lines().join('\n').replace('"id":7,', '"id":8000,'), 'checksum'],
    ['if lines follow the end', () => `${lines().join('\n')}{"id":1}\n`, 'continues after its last line'],
    ['if a row is not JSON', () => lines().with(300, 'x').join('\n'), 'PostgreSQL reports: invalid input'],
    ['if it is another file', () => '{"id":1,"name":"product"}\n', 'This is not the archive of an account'],
    ['if it is empty', () => '', 'This is not the archive of an account'],
    [
      'if its format is unknown',
      () => lines().join('\n').replace('"format":1', '"format":2'),
      'The archive has the format 2, written by Quartermaster',
    ],
    [
      'if the database lacks a column',
      () => lines().join('\n').replace('"columns":["id","version"', '"columns":["id","colour","version"'),
      'The archive has product.colour, which this database does not have.',
    ],
  ]

  it.each(cases)('%s', async (title, content, message) => {
    const before = await checksumOf(everything)
    const name = title.includes('exists') ? undefined : 'refused'
    const refused = await restore(Buffer.from(content()), { name })
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
    expect(refused.stderr).toContain('Nothing was changed.')
    expect(await checksumOf(everything)).toBe(before)
  })

  it('if the name cannot be a host', async () => {
    const refused = await restore(readFileSync(file), { name: 'No Host' })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('cannot be an account name')])
  })
})

describe('--replace', () => {
  const paths = [
    `${partners}?fields=id,name`,
    `${partners}?fields=id,name&limit=20&page=12`,
    `${partners}?fields=id,name&filter=name*"changed"`,
    `${partners}/3?fields=id,name`,
  ]

  it('returns the records to the export, while requests are served, without a false 304', async () => {
    const changed = demoPartners(650).map((partner) => ({ ...partner, name: `changed ${partner['id']}` }))
    await importRecords({ ownerUrl: url, account: 'acme', resource: 'partner', records: changed })
    expect(await create(acme, 'after the export', 'key-3')).toMatchObject({ body: { data: { id: 652 } } })
    const etags = new Map<string, string>()
    for (const path of paths) {
      const { status, headers } = await service.request(acme, 'GET', path)
      expect(status).toBe(200)
      etags.set(path, headers.get('etag') ?? '')
    }
    const newKey = (await run('key', 'create', '--account', 'acme', '--name', 'new')).stdout.trim()
    const expiring = (await rowsOf('acme', 'api_key')).find((row) => row.includes('"expiring"')) ?? ''
    await run('key', 'revoke', JSON.parse(expiring).key_id, '--account', 'acme')
    const keysBefore = await rowsOf('acme', 'api_key')
    const before = await checksumOf(neitherAcmeNorNeighbour)

    // Until the second half of the archive arrives, requests see the state before.
    const archive = readFileSync(file)
    const stdin = new PassThrough()
    const restoring = restore(stdin, { replace: true })
    stdin.write(archive.subarray(0, archive.length / 2))
    await eventually(() => tallyIsLocked('acme'))
    for (const path of paths) {
      const headers = { 'if-none-match': etags.get(path) ?? '' }
      expect((await service.request(acme, 'GET', path, { headers })).status).toBe(304)
    }
    expect((await create(neighbour, 'meanwhile', 'key-4')).status).toBe(201)
    stdin.end(archive.subarray(archive.length / 2))
    expect(await restoring).toMatchObject({ code: 0 })

    for (const table of ['product', 'partner', 'company']) {
      const expected = (await rowsOf('copy', table)).filter((row) => !row.includes('after the restore'))
      expect(await rowsOf('acme', table), table).toEqual(expected)
    }
    for (const path of paths) {
      const headers = { 'if-none-match': etags.get(path) ?? '' }
      const conditional = await service.request(acme, 'GET', path, { headers })
      expect(conditional.status, path).toBe(200)
      expect(JSON.stringify(conditional.body)).not.toContain('changed')
      expect(conditional.headers.get('etag')).not.toBe(etags.get(path))
    }
    expect(await rowsOf('acme', 'api_key')).toEqual(keysBefore)
    expect((await service.request({ ...acme, key: newKey }, 'GET', partners)).status).toBe(200)
    // 652 was an id before: it is not used again. The create of before the export is still known.
    expect(await create(acme, 'later', 'key-5')).toMatchObject({ body: { data: { id: 653 } } })
    expect(await create(acme, 'before the export', 'key-1')).toMatchObject({ body: { data: { id: 651 } } })
    expect((await run('doctor', '--account', 'acme')).code).toBe(0)
    expect(await checksumOf(neitherAcmeNorNeighbour)).toBe(before)
    expect(await rowsOf('neighbour', 'partner')).toHaveLength(651)
  })

  it('of an account that does not exist creates it', async () => {
    const { code, stdout } = await run('account', 'restore', file, '--as', 'lost', '--replace')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^lost: restored, as exported at /)])
  })
})

it('an export comes from one snapshot, although others write while it runs', async () => {
  const exporting = await connected(url)
  const records = demoPartners(limits.importBatchRows + 5_000)
  await importRecords({ ownerUrl: url, account: 'neighbour', resource: 'partner', records })
  const chunks: Buffer[] = []
  for await (const chunk of exportAccount(exporting, 'neighbour', { rows: 0, records: undefined })) {
    if (chunks.length === 0) {
      const changed = records.map((record) => ({ ...record, name: 'changed' }))
      await importRecords({ ownerUrl: url, account: 'neighbour', resource: 'partner', records: changed })
      expect((await create(neighbour, 'changed', 'key-6')).status).toBe(201)
    }
    chunks.push(chunk)
  }
  await exporting.end()
  const text = Buffer.concat(chunks).toString()
  expect(text).not.toContain('"changed"')
  expect(text).toContain(`"resource":"partner","version":4,"total":15000,"last_id":15000,`)
  expect(
    text.split('\n').filter((line) => /^\{"id":\d+,"version":\d+,.*"is_vendor"/.test(line)),
  ).toHaveLength(15_000)
})

it('an export of an unknown account fails before it writes anything', async () => {
  const failed = await run('account', 'export', 'unknown')
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no account named') })
})

it('an archive can be restored into another system, where its keys are accepted', async () => {
  const otherUrl = await freshDatabase()
  const restored = await quartermaster(['account', 'restore', file], { DATABASE_URL: otherUrl })
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringMatching(/^acme: restored, /)])
  const other = await startTestService(otherUrl)
  try {
    const list = await other.request(acme, 'GET', `${partners}?filter=id=651&fields=name`)
    expect(list).toMatchObject({ status: 200, body: { data: [{ name: 'before the export' }] } })
  } finally {
    await other.close()
  }
})

it('the commands of docs/operating/backup.md work as written', async () => {
  const block = documented('account-archive')
  const script = `quartermaster() { '${process.execPath}' '${bin}' "$@"; }\n${block}`
  execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: environmentWith({ DATABASE_URL: url }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  expect(await rowsOf('acme-copy', 'product')).toEqual(await rowsOf('acme', 'product'))
})
