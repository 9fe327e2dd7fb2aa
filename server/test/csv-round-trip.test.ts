import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { account, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

/** An export as CSV, sent back as a batch, changes nothing: exact and in the form for spreadsheets. */

let number = 0

const { client, service } = await freshService()

const exact = 'text/csv'
const spreadsheet = 'text/csv; form=spreadsheet'
const paths = {
  product: '/api/v1/inventory/product',
  partner: '/api/v1/resources/partner',
  company: '/api/v1/resources/company',
} as const

async function fetchFrom(of: TestAccount, path: string, headers: Record<string, string>, body?: string) {
  return await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-forwarded-host': `${of.name}.localhost`, authorization: `Bearer ${of.key}`, ...headers },
    ...(body === undefined ? {} : { body }),
  })
}

/** With the byte order mark, which `Response.text` would remove. */
async function exported(of: TestAccount, path: string, accept: string): Promise<string> {
  const response = await fetchFrom(of, path, { accept })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer()).toString()
}

/** As JSON, which has every digit. */
async function linesOf(of: TestAccount, path: string): Promise<string[]> {
  return (await exported(of, path, 'application/x-ndjson')).trimEnd().split('\n').slice(0, -1)
}

async function recordsOf(of: TestAccount, path: string): Promise<Record<string, unknown>[]> {
  return (await linesOf(of, path)).map((line): Record<string, unknown> => JSON.parse(line))
}

async function batch(to: TestAccount, path: string, type: string, body: string): Promise<unknown> {
  const response = await fetchFrom(to, `${path}/batch`, { 'content-type': type }, body)
  return JSON.parse((await response.text()).trim().split('\n')[0] ?? '')
}

const end = (changed: object) => ({
  $end: { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, ...changed },
})

/** Pieces that CSV, COPY, JSON, a spreadsheet or an import could take for something else. */
const piece = fc.oneof(
  fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    '＝',
    '＋',
    '－',
    '＠',
    "'",
    "''",
    '"',
    '""',
    ',',
    ';',
    '\t',
    '\r',
    '\n',
    '\r\n',
  ),
  fc.constantFrom(
    ' ',
    '\u00a0',
    '\ufeff',
    '\\',
    '\\N',
    '\\.',
    'null',
    'true',
    '0',
    '007',
    '1e5',
    'SUM(A1)',
    '+30 210',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }).filter((text) => !text.includes('\0')),
)
const textOf = (charactersMax: number) =>
  fc
    .array(piece, { maxLength: 12 })
    .map((pieces) => Array.from(pieces.join('')).slice(0, charactersMax).join(''))
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 })
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n) + 1n, max: 10n ** 24n - 1n }), fc.nat({ max: 999_999_999_999 }))
  .map(([whole, rest]) => `${whole}.${String(rest).padStart(12, '0')}`)
const timestamp = fc
  .date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString())
const integer = fc.maxSafeInteger()
const dates = { create_date: timestamp, write_date: timestamp }
const records: Record<keyof typeof paths, fc.Arbitrary<{ readonly name: string }>> = {
  product: fc.record({
    name: textOf(512),
    default_code: nullable(textOf(128)),
    list_price: decimal,
    qty_available: decimal,
    active: fc.boolean(),
    categ_id: nullable(integer),
    product_tmpl_id: nullable(integer),
    is_rsd_product: nullable(fc.boolean()),
    ...dates,
  }),
  partner: fc.record({
    name: textOf(512),
    email: nullable(textOf(128)),
    phone: nullable(textOf(32)),
    is_company: fc.boolean(),
    ...dates,
  }),
  company: fc.record({
    name: textOf(512),
    company_code: nullable(textOf(32)),
    branch_user: textOf(32),
    ...dates,
  }),
}

/** As a spreadsheet saves a file: no byte order mark, quotes only where needed, so that `""` and an empty cell are the same. */
function saved(csv: string): string {
  const rows = parse(csv, { bom: true, record_delimiter: '\r\n' })
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

describe.each(['product', 'partner', 'company'] as const)('the CSV of random records: %s', (resource) => {
  const path = paths[resource]
  it('comes back as it was, in both forms', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(records[resource], { minLength: 40, maxLength: 80 }), async (generated) => {
        const rows = generated.map((record, i) => ({ id: i + 1, ...record }))
        const source = await account(client, `source${++number}`)
        const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
        expect(await batch(source, path, 'application/x-ndjson', lines)).toEqual(
          end({ read: rows.length, inserted: rows.length, idsNow: 'external' }),
        )
        const expected = await linesOf(source, path)
        expect((await recordsOf(source, path)).map(({ name }) => name)).toEqual(rows.map(({ name }) => name))
        for (const accept of [exact, spreadsheet]) {
          const csv = await exported(source, path, accept)
          const unchanged = end({ read: rows.length, unchanged: rows.length })
          expect(await batch(source, path, exact, csv)).toEqual(unchanged)
          expect(await exported(source, path, accept)).toBe(csv)
          if (accept === spreadsheet) expect(await batch(source, path, exact, saved(csv))).toEqual(unchanged)
          const copy = await account(client, `copy${++number}`)
          expect(await batch(copy, path, exact, csv)).toEqual(
            end({ read: rows.length, inserted: rows.length, idsNow: 'external' }),
          )
          expect(await linesOf(copy, path)).toEqual(expected)
          expect(await exported(copy, path, accept)).toBe(csv)
        }
      }),
      { numRuns: 4, endOnFailure: true },
    )
  })
})

describe('the form for spreadsheets', () => {
  const path = paths.product
  const accountWith = async (names: readonly string[]) => {
    const created = await account(client, `form${++number}`)
    const rows = names.map((name, i) => `${JSON.stringify({ id: i + 1, name, default_code: name })}\n`)
    await batch(created, path, 'application/x-ndjson', rows.join(''))
    return created
  }
  const query = `${path}?fields=id,name`

  it("has a ' in the names of its text columns, before formulas and for the empty text; the default is exact", async () => {
    const acme = await accountWith(['=1+1', "'=1+1", '+30 210', "'s-Hertogenbosch", '', "'", 'x;-1'])
    expect(await exported(acme, query, exact)).toBe(
      '\uFEFFid,name\r\n1,"=1+1"\r\n2,"\'=1+1"\r\n3,"+30 210"\r\n4,"\'s-Hertogenbosch"\r\n5,""\r\n6,"\'"\r\n7,"x;-1"\r\n',
    )
    expect(await exported(acme, query, spreadsheet)).toBe(
      '\uFEFFid,\'name\r\n1,"\'=1+1"\r\n2,"\'\'=1+1"\r\n3,"\'+30 210"\r\n4,"\'s-Hertogenbosch"\r\n5,"\'"\r\n6,"\'\'"\r\n7,"x;\'-1"\r\n',
    )
    const response = await fetchFrom(acme, query, { accept: spreadsheet })
    expect(response.headers.get('content-type')).toBe(
      'text/csv; charset=utf-8; header=present; form=spreadsheet',
    )
  })

  it('is undone in marked columns only', async () => {
    const acme = await accountWith(['one', 'two'])
    const csv = "id,'name,default_code\r\n1,'=1,'=1\r\n2,'s-Hertogenbosch,'s-Hertogenbosch\r\n"
    expect(await batch(acme, path, exact, csv)).toEqual(end({ read: 2, updated: 2 }))
    expect((await recordsOf(acme, path)).map(({ name, default_code }) => [name, default_code])).toEqual([
      ['=1', "'=1"],
      ["'s-Hertogenbosch", "'s-Hertogenbosch"],
    ])
  })

  it.each([
    ["id,'name,name\r\n", 'the column name occurs twice'],
    ["'id,name\r\n", `a product has no field "'id" (did you mean id?)`],
    ["id,''name\r\n", `a product has no field "''name" (did you mean name?)`],
    ["id,'list_price\r\n", `a product has no field "'list_price" (did you mean list_price?)`],
  ])('%j is rejected', async (csv, reason) => {
    const acme = await accountWith([])
    expect(await batch(acme, path, exact, csv)).toMatchObject({
      code: 'body_invalid',
      detail: expect.stringContaining(reason),
    })
  })

  it.each([
    [spreadsheet, 'Omit form: the column names say whether a CSV has the form for spreadsheets.'],
    ['text/csv; header=absent', 'A CSV must begin with a header: omit header=absent.'],
  ])('a batch of type %s is rejected', async (type, message) => {
    const acme = await accountWith([])
    expect(await batch(acme, path, type, 'id,name\r\n')).toMatchObject({
      code: 'media_type_unsupported',
      errors: [{ parameter: 'Content-Type', code: 'content_type_invalid', message }],
    })
  })

  it('has no other names', async () => {
    const acme = await accountWith([])
    const response = await fetchFrom(acme, path, { accept: 'text/csv; form=excel' })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'request_invalid', errors: [{ parameter: 'Accept', code: 'header_invalid' }] },
    ])
  })
})
