import { describe, expect, it } from 'vitest'
import { Random } from '../random.ts'
import { type Case, judge, type Rows, randomCase } from './cases.ts'
import { evaluate } from './evaluate.ts'
import { firstDifference, jsonLine } from './fixture.ts'
import { judgePage } from './large-proof.ts'
import { markersIn } from './markers.ts'
import { prove } from './proof.ts'
import { randomRows } from './rows.ts'
import { type PlainRecord, resources } from './schema.ts'
import { encodeForm, encodeRaw, write } from './write.ts'

const rowsOf = (seed: number): Rows => ({
  rows: {
    product: randomRows(new Random(seed, 1), resources.product, 40),
    partner: randomRows(new Random(seed, 2), resources.partner, 40),
    company: randomRows(new Random(seed, 3), resources.company, 40),
  },
})

const accounts = [rowsOf(1), rowsOf(2)]
const silentContext = { seed: 1, progress: () => ({ step() {}, end() {} }) }

const respondWith = (records: readonly PlainRecord[], status = 200) => {
  const data = records.map((record) => ({ id: Number(record['id']) }))
  const meta = { count: data.length, total: data.length }
  return { status, headers: {}, text: JSON.stringify({ data, meta }) }
}

const bodyOf = (changed: readonly PlainRecord[]) =>
  `{"data":[${changed.map((row) => jsonLine(resources.product, row)).join()}]}`
const rowsResponse = (changed: readonly PlainRecord[]) => ({
  status: 200,
  headers: {},
  text: bodyOf(changed),
})

const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

/** A service that is correct, except that `mistake` changes the records of each response. */
const service =
  (mistake: (right: PlainRecord[], theCase: Case<Rows>) => PlainRecord[]) => async (theCase: Case<Rows>) => {
    if (theCase.invalid) return respondWith([], 400)
    const right = evaluate(theCase.filter, theCase.resource, theCase.account.rows[theCase.resource.name])
    return respondWith(mistake(right, theCase))
  }

describe('the proof', () => {
  it('accepts correct responses', async () => {
    const outcome = await prove(
      silentContext,
      500,
      accounts,
      service((right) => right),
    )
    expect(outcome).toMatchObject({ ok: true, value: '0 of 500' })
  })

  it('detects a service whose negated operators do not match null', async () => {
    const nullsDropped = service((right, { filter }) =>
      filter.kind === 'condition' && filter.operator === '!='
        ? right.filter((record) => record[filter.field.text] !== null)
        : right,
    )
    const outcome = await prove(silentContext, 500, accounts, nullsDropped)
    expect(outcome.ok).toBe(false)
    expect(outcome.note).toContain('missing')
  })

  it.each<[string, (right: PlainRecord[]) => PlainRecord[]]>([
    ['a missing record', (right) => right.slice(1)],
    ['a reversed order', (right) => right.toReversed()],
    ['a duplicate record', (right) => [...right, ...right.slice(-1)]],
  ])('detects a service with %s', async (_mistake, mistake) => {
    expect((await prove(silentContext, 50, accounts, service(mistake))).ok).toBe(false)
  })

  it('detects a wrong total, a wrong status, a broken connection and an invalid filter that is accepted', async () => {
    const cases = Array.from({ length: 200 }, (_, index) => randomCase(accounts, 1, 2, index))
    const valid = cases.find(({ invalid }) => !invalid)
    const invalid = cases.find((theCase) => theCase.invalid)
    if (valid === undefined || invalid === undefined)
      throw new Error('the test needs a valid and an invalid case')
    const right = await service((records) => records)(valid)
    expect(judge(valid, right)).toBeUndefined()
    const more = right.text.replace(/"total":(\d+)/, (_, total) => `"total":${Number(total) + 1}`)
    expect(judge(valid, { ...right, text: more })).toContain('meta')
    expect(judge(valid, { ...right, status: 500 })).toContain('500')
    expect(judge(invalid, respondWith([]))).toContain('instead of 400')
    const broken = await prove(silentContext, 20, accounts, () => Promise.reject(new Error('reset')))
    expect(broken).toMatchObject({ ok: false })
  })

  it('generates the same cases for the same seed', () => {
    expect(randomCase(accounts, 7, 2, 3).text).toBe(randomCase(accounts, 7, 2, 3).text)
    expect(randomCase(accounts, 7, 2, 3).text).not.toBe(randomCase(accounts, 8, 2, 3).text)
  })
})

it('detects a page with other records, and a wrong total', () => {
  const rows = accounts[0]?.rows.partner ?? []
  const page = (from: number, total: number) => ({
    ...respondWith(rows.slice(from, from + 10)),
    text: JSON.stringify({
      data: rows.slice(from, from + 10).map((row) => ({ id: Number(row['id']) })),
      meta: { total },
    }),
  })
  expect(judgePage(rows, 2, 10, page(10, 40))).toBeUndefined()
  expect(judgePage(rows, 2, 10, page(11, 40))).toContain('instead of')
  expect(judgePage(rows, 2, 10, page(10, 41))).toContain('total')
  expect(judgePage(rows, 2, 10, respondWith([], 500))).toContain('500')
})

it('detects a row that was changed by the import', () => {
  const rows = accounts[0]?.rows.product ?? []
  expect(firstDifference(resources.product, rows, rowsResponse(rows))).toBeUndefined()
  const rounded = rows.map((row) => ({ ...row, list_price: String(Number(row['list_price'])) }))
  expect(firstDifference(resources.product, rows, rowsResponse(rounded))).toContain('list_price')
  expect(firstDifference(resources.product, rows, rowsResponse(rows.slice(1)))).toContain('39 found')
})

it('encodes a filter completely or minimally, and both decode to it', () => {
  for (let index = 0; index < 300; index += 1) {
    const { filter, random } = randomCase(accounts, 5, index)
    const text = write(filter, random)
    expect(decode(encodeForm(text, random))).toBe(text)
    expect(decode(encodeRaw(text))).toBe(text)
  }
  expect(encodeRaw('&a=1&&b>2|c[1]&limit=3&')).toBe('%26a=1%26&b>2|c[1]%26limit=3%26')
})

describe('a statement', () => {
  it.each([
    'name = $2::text',
    '(active = $2::boolean or (id > $6::bigint and id < $7::bigint))',
    `create_date at time zone 'UTC' < $2::timestamptz`,
  ])('without a value of a request has no marker: %s', (where) => {
    expect(markersIn(`select id from product where account_id = $1::bigint and ${where}`)).toEqual([])
  })

  it.each([
    [`name = 'ZQXbolt'`, 'text'],
    [`name like '%zqx%' -- and more`, 'text'],
    ['id = 61798349', 'number'],
    [`list_price > '61798350.5'::numeric`, 'number'],
    [`create_date >= '7731-07-15T12:30:45.731Z'`, 'time'],
  ])('with a value of a request has its marker: %s', (where, kind) => {
    expect(markersIn(`select id from product where account_id = $1::bigint and ${where}`)).toEqual([kind])
  })
})

it('values with each marker are frequent in filters', () => {
  const counts = { text: 0, number: 0, time: 0 }
  for (let index = 0; index < 2_000; index += 1)
    for (const kind of markersIn(randomCase(accounts, 1, 2, index).text)) counts[kind] += 1
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(40)
})
