import { expect, it } from 'vitest'
import { compareOwnSet, lineOf, type OwnSet, randomOwnSet } from '../../verification/src/fields/own-fields.ts'
import { areValuesWritten } from '../../verification/src/fields/values-written.ts'
import { Random } from '../../verification/src/random.ts'
import { checkValues } from '../src/cli/doctor/checks/values.ts'
import { limits } from '../src/limits/limits.ts'
import { account, insertProducts, type TestAccount } from './database.ts'
import { passes } from './eventually.ts'
import { freshService } from './service.ts'

/** Filters on declared fields by the table of their values, compared with an evaluator that knows nothing of it. */

const rowsCount = limits.smallAccountRecordsMax + 200
const { client, service } = await freshService({}, { indexedRecordsMin: 100 })

function headersOf(of: TestAccount) {
  return { 'x-forwarded-host': `${of.name}.localhost`, authorization: `Bearer ${of.key}` }
}

async function sendRows(of: TestAccount, { resource }: OwnSet, lines: readonly string[]): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${service.port}${resource.path}/batch`, {
    method: 'POST',
    headers: { ...headersOf(of), 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => `${line}\n`).join(''),
  })
  return await response.text()
}

async function declared(name: string, set: OwnSet): Promise<TestAccount> {
  const created = await account(client, name)
  for (const { name: field, type } of set.own) {
    const body = { resource: set.resource.name, name: field, type }
    expect((await service.post(created, '/manage/v1/fields', body)).status).toBe(201)
  }
  const lines = set.rows.map((row) => lineOf(set.resource, row))
  expect(await sendRows(created, set, lines)).toContain(`"inserted":${set.rows.length}`)
  return created
}

async function list(
  of: TestAccount,
  path: string,
): Promise<{ data: { id: number }[]; meta: { total: number } }> {
  const { status, body } = await service.request(of, 'GET', path)
  expect([path, status]).toEqual([path, 200])
  return JSON.parse(JSON.stringify(body))
}

async function compare(of: TestAccount, set: OwnSet, random: Random, filters: number): Promise<void> {
  const { compared, found, faults } = await compareOwnSet(set, random, filters, async (query, accept) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${set.resource.path}?${query}`, {
      headers: { ...headersOf(of), accept },
    })
    const text = await response.text()
    expect([query, response.status, text]).toEqual([query, 200, expect.anything()])
    return text
  })
  expect(faults).toEqual([])
  expect(compared).toBeGreaterThan(filters * 2)
  expect(found).toBeGreaterThan(filters)
}

/** Sends a filter, which has the values written, until they are up to the last version. */
async function written(
  of: TestAccount,
  {
    resource,
    own,
  }: {
    readonly resource: { readonly name: string; readonly path: string }
    readonly own: readonly { readonly name: string }[]
  },
): Promise<void> {
  let n = 0
  await passes(async () => {
    n += 1
    await list(of, `${resource.path}?fields=id&limit=1&filter=${own[0]?.name}!%3Dnull%26id%3E-${n}`)
    expect(await areValuesWritten(client, resource.name, of.name)).toBe(true)
  })
}

it.each([1, 2, 3])(
  'filters find the records that the evaluator finds, while values are written and after: %i',
  async (n) => {
    const random = new Random(34, n)
    const set = randomOwnSet(random, rowsCount)
    const acme = await declared(`values${n}`, set)
    await compare(acme, set, random, 30)
    await written(acme, set)
    await compare(acme, set, random, 60)
    expect(await checkValues(client, acme, { repair: false })).toEqual([])
    // Changes and deletions, which the table of values does not have yet.
    const next = randomOwnSet(new Random(35, n), rowsCount).rows
    const deleted = new Set(set.rows.filter(() => random.chance(0.1)).map((row) => row['id']))
    const changed = set.rows.map((row, i) => {
      if (!random.chance(0.3)) return row
      const own = set.own.map(({ name }) => [name, next[i]?.[name] ?? null])
      return { ...row, ...Object.fromEntries(own) }
    })
    const lines = changed.flatMap((row, i) => {
      if (deleted.has(row['id'])) return [`{"$delete":${String(row['id'])}}`]
      return row === set.rows[i] ? [] : [lineOf(set.resource, row)]
    })
    await sendRows(acme, set, lines)
    const after = { ...set, rows: changed.filter((row) => !deleted.has(row['id'])) }
    await compare(acme, after, random, 60)
    await written(acme, after)
    await compare(acme, after, random, 30)
    expect(await checkValues(client, acme, { repair: false })).toEqual([])
  },
)

/** Each filter on 25,000 products, and the same condition in SQL. */
const conditions: Readonly<Record<string, string>> = {
  'x_int<90': `(custom->>'1')::int < 90`,
  'x_int=7': `(custom->>'1')::int = 7`,
  'x_int!=7': `(custom->>'1')::int is distinct from 7`,
  'x_int=null': `custom->>'1' is null`,
  'x_int=null&id>100': `custom->>'1' is null and id > 100`,
  'x_int<90&id>100&id<=20000': `(custom->>'1')::int < 90 and id between 101 and 20000`,
  '(id>5&x_text*"round 17")&(id<2000|id>24000)': `custom->>'2' ilike '%round 17%' and id > 5 and (id < 2000 or id > 24000)`,
  'x_rare!=null&id![3000,5000]': `custom->>'3' is not null and id not in (3000, 5000)`,
  'x_int!=7&id>100': `(custom->>'1')::int is distinct from 7 and id > 100`,
  'x_int![1,2]&list_price>=0': `coalesce((custom->>'1')::int, 0) not in (1, 2)`,
  'x_text*"ROUND 1"': `custom->>'2' ilike '%round 1%'`,
  'x_text*"a"': `custom->>'2' ilike '%a%'`,
  'x_text!*"round 1"': `(custom->>'2' ilike '%round 1%') is not true`,
  'x_rare=null': `custom->>'3' is null`,
  'x_rare!=null': `custom->>'3' is not null`,
  'x_rare!=true': `custom->>'3' is distinct from 'true'`,
  'x_int=8|x_text="round 17"': `(custom->>'1')::int = 8 or custom->>'2' = 'round 17'`,
  'x_int=8|id<5': `(custom->>'1')::int = 8 or id < 5`,
  'x_int<90&x_text*"round 1"&x_rare=null': `(custom->>'1')::int < 90 and custom->>'2' ilike '%round 1%' and custom->>'3' is null`,
}

it('totals and pages of a large account are those of the records, with and without outdated values', async () => {
  const of = await account(client, 'large')
  for (const [name, type] of [
    ['x_int', 'integer'],
    ['x_text', 'text'],
    ['x_rare', 'boolean'],
  ])
    expect((await service.post(of, '/manage/v1/fields', { resource: 'product', name, type })).status).toBe(
      201,
    )
  await insertProducts(client, of, 25_000)
  await client.query(
    `update product set custom = jsonb_strip_nulls(jsonb_build_object('1', case when id % 200 > 0 then id % 100 end,
       '2', case when id % 2 = 0 then 'round ' || id % 500 else 'a flat one' end, '3', case when id % 1000 = 0 then true end))
     where account_id = $1`,
    [of.accountId],
  )
  await client.query('analyze product')
  const set = { resource: { name: 'product', path: '/api/v1/inventory/product' }, own: [{ name: 'x_int' }] }
  const compareAll = async (limit: number, window?: readonly [after: number, max: number]) => {
    const [after, max] = window ?? [0, 2 ** 31]
    const ids = window === undefined ? '' : `&after_id=${after}&max_id=${max}`
    const wrong: string[] = []
    for (const [filter, condition] of Object.entries(conditions)) {
      const query = `fields=id&limit=${limit}&filter=${encodeURIComponent(filter)}${ids}`
      const found = await list(of, `${set.resource.path}?${query}`)
      const { rows } = await client.query<{ id: number; n: number }>(
        `select id::int, (count(*) over ())::int as n from product where account_id = $1 and (${condition}) and id > $3 and id <= $4 order by id limit $2`,
        [of.accountId, limit, after, max],
      )
      const expected = `${rows[0]?.n ?? 0}: ${rows.map(({ id }) => id).join()}`
      const got = `${found.meta.total}: ${found.data.map(({ id }) => id).join()}`
      if (got !== expected) wrong.push(`${filter} ${ids}: ${got}, not ${expected}`)
    }
    return wrong
  }
  await written(of, set)
  const dense = await client.query('select dense::text[] from value_index where account_id = $1', [
    of.accountId,
  ])
  expect(dense.rows).toEqual([{ dense: ['1', '2'] }])
  expect(await compareAll(10)).toEqual([])
  expect(await compareAll(10, [150, 20_000])).toEqual([])
  for (const [id, body] of [
    [1, { x_int: null, x_text: 'round 1 again' }],
    [2, { x_int: 95 }],
    [7, { x_int: 1, x_rare: true }],
    [200, { x_int: 7, x_text: null }],
  ] as const) {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const options = { body: JSON.stringify(body), headers }
    expect((await service.request(of, 'PATCH', `${set.resource.path}/${id}`, options)).status).toBe(200)
  }
  expect((await service.request(of, 'DELETE', `${set.resource.path}/300`)).status).toBe(204)
  expect((await service.post(of, set.resource.path, { name: 'new', x_int: 7 })).status).toBe(201)
  const { rows } = await client.query(
    'select (i.version < t.version) as behind from value_index i join tally t using (account_id, resource) where account_id = $1',
    [of.accountId],
  )
  expect(rows).toEqual([{ behind: true }])
  expect(await compareAll(11)).toEqual([])
  expect(await compareAll(11, [1, 200])).toEqual([])
  // The table is what answers.
  await client.query('delete from product_value where account_id = $1', [of.accountId])
  expect((await compareAll(12)).length).toBeGreaterThan(5)
  expect(await checkValues(client, of, { repair: false })).toHaveLength(1)
  expect(await checkValues(client, of, { repair: true })).toHaveLength(1)
  expect(await compareAll(13)).toEqual([])
  await written(of, set)
  expect(await compareAll(14)).toEqual([])
  expect(await checkValues(client, of, { repair: false })).toEqual([])
})
