import { expect, it } from 'vitest'
import { importRecords } from '../src/import/import-records.ts'
import { quartermaster } from './command.ts'
import { account, connected, freshDatabase, insertProducts, type TestAccount } from './database.ts'
import { startTestService, type TestService } from './service.ts'

/** An administrator can set these for the database. No result may depend on it. */
const worst: Record<string, string> = {
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  gin_fuzzy_search_limit: '100',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  client_min_messages: 'error',
  exit_on_error: 'on',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  quote_all_identifiers: 'on',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Pacific/Kiritimati',
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  enable_indexscan: 'off',
  enable_bitmapscan: 'off',
}
const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'
const companies = '/api/v1/resources/company'
let number = 0

const url = await freshDatabase()
const client = await connected(url)
const database = new URL(url).pathname.slice(1)
/** Has products, which nothing changes. */
const reader = await account(client, 'reader')
await insertProducts(client, reader, 20_000, 'Bolt ')
await client.query('vacuum analyze product')
const expected = await observed({})
expect(expected.join('\n')).toContain('"total":20000')
expect(expected.filter((line) => /^[45]\d\d/.test(line))).toEqual([])

/** What a client gets from a new account, without its dates and identifiers. */
async function observed(environment: Record<string, string>): Promise<string[]> {
  const by = await account(client, `account-${++number}`)
  const service = await startTestService(url, environment)
  try {
    return await requests(service, by)
  } finally {
    await service.close()
  }
}

async function requests(service: TestService, by: TestAccount): Promise<string[]> {
  const seen: string[] = []
  const send = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const { name, key } = path.startsWith(products) ? reader : by
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method,
      headers: { 'x-forwarded-host': `${name}.localhost`, authorization: `Bearer ${key}`, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    seen.push(`${response.status} ${method} ${path} ${comparable(text)}`)
  }
  const json = { 'content-type': 'application/json' }
  const ndjson = { 'content-type': 'application/x-ndjson' }
  const rows = [
    { id: 7, name: 'a\\nb "c" {NULL}', branch_user: 'NULL', company_code: null },
    { id: 8, name: "O'Neill\\", branch_user: '\\\\' },
  ]
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await send('POST', `${companies}/batch`, lines, ndjson)
  await send('POST', `${companies}/batch`, lines.replace('{NULL}', 'x'), ndjson)
  // All at once, so that they wait for each other.
  const creates = Array.from({ length: 12 }, (_, n) =>
    service.request(by, 'POST', partners, {
      body: JSON.stringify({ name: 'P\\1', ...(n % 2 === 0 ? {} : { email: 'NULL' }) }),
      headers: n % 3 === 0 ? { ...json, 'idempotency-key': `k${n}` } : json,
    }),
  )
  seen.push((await Promise.all(creates)).map(({ status }) => status).join())
  const changes = Array.from({ length: 12 }, (_, n) =>
    service.request(by, 'PATCH', `${partners}/1`, { body: `{"phone":"${n}"}`, headers: json }),
  )
  seen.push((await Promise.all(changes)).map(({ status }) => status).join())
  await send('PATCH', `${partners}/1`, '{"phone":null,"email":"a\\\\b"}', json)
  await send('GET', `${partners}?fields=id,name,phone,active`)
  await send('GET', `${partners}?fields=id&filter=phone=null`)
  await send('GET', companies)
  await send('GET', `${products}?filter=name*bolt&limit=2&page=9999`)
  await send('GET', `${products}?filter=name*BOLT%2017&limit=3`)
  await send('GET', `${products}?filter=write_date>2020-01-01%26id<3`)
  await send('GET', `${products}/5`)
  await send('GET', `${products}?filter=name*olt%20199`, undefined, { accept: 'application/x-ndjson' })
  await send('GET', companies, undefined, { accept: 'text/csv' })
  await send('DELETE', `${companies}/8`)
  await send('GET', `${companies}/changes`)
  await send('GET', '/manage/v1/keys?fields=name,scopes,expires_at')
  await importRecords({
    ownerUrl: url,
    account: by.name,
    resource: 'company',
    records: [{ ...rows[0], name: 'x\\' }],
  })
  await send('GET', companies)
  return seen
}

function comparable(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'DATE')
    .replaceAll(/\\?"(?:cursor|version|id|request_id)\\?":\\?"[^"]*"/g, '')
    .replaceAll(/"etag":"\\"[^"]*\\""/g, '')
}

async function withSettings<T>(settings: Record<string, string>, work: () => Promise<T>): Promise<T> {
  for (const [setting, value] of Object.entries(settings))
    await client.query(`alter database ${database} set ${setting} = ${client.escapeLiteral(value)}`)
  try {
    return await work()
  } finally {
    await client.query(`alter database ${database} reset all`)
  }
}

it.each(Object.entries(worst))('the results are the same with %s = %s', async (setting, value) => {
  expect(await withSettings({ [setting]: value }, () => observed({}))).toEqual(expected)
})

it('the results are the same with all of them, behind a pooler that assigns a connection to each transaction', async () => {
  const environment = { QUARTERMASTER_DATABASE_POOLER: 'transaction' }
  // Its timeouts also apply to what the service sends before it can set them.
  const settings = Object.fromEntries(
    Object.entries(worst).filter(([setting]) => !setting.endsWith('_timeout')),
  )
  expect(await withSettings(settings, () => observed(environment))).toEqual(expected)
})

it('doctor names what is set otherwise, and where', async () => {
  const settings = { array_nulls: 'off', default_transaction_read_only: 'on', enable_hashjoin: 'off' }
  const { stdout } = await withSettings(settings, () =>
    quartermaster(['doctor', '--json'], { DATABASE_URL: url, DATABASE_OWNER_URL: url }),
  )
  const { findings }: { findings: { check: string; status: string; message: string; repair?: string }[] } =
    JSON.parse(stdout)
  expect(findings.filter(({ check }) => check === 'settings')).toEqual([
    {
      check: 'settings',
      status: 'problem',
      message: `default_transaction_read_only is on (database ${database}): every write fails.`,
      repair: `alter database "${database}" reset default_transaction_read_only;`,
    },
    {
      check: 'settings',
      status: 'problem',
      message: `enable_hashjoin is off (database ${database}): lists may take far longer.`,
      repair: `alter database "${database}" reset enable_hashjoin;`,
    },
    {
      check: 'settings',
      status: 'ok',
      message: `The service sets these itself on every connection; other programs get them: array_nulls = off (database ${database}).`,
    },
  ])
})
