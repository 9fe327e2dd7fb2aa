import { expect, test } from 'vitest'
import {
  companies,
  encoded,
  faultIn,
  type HttpResponse,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  send,
} from './client.ts'

/** Summaries of the records of acme, which no test changes. */

interface Summary {
  readonly data: readonly {
    readonly group: Readonly<Record<string, unknown>>
    readonly count: number
    readonly sum?: Readonly<Record<string, number>>
  }[]
  readonly meta: { readonly count: number; readonly total: number }
}

function summaryIn(response: HttpResponse): Summary {
  expect(response.status, response.text).toBe(200)
  expect(response.headers['content-type']).toMatch(/^application\/json\b/)
  return JSON.parse(response.text)
}

const summary = `${products}/summary`
const read = async (query: string) => summaryIn(await send(`${summary}?${query}`))

test('[G1] counts the records that match a filter, in groups of equal values', async () => {
  const { data, meta } = await read('group=categ_id')
  const { meta: all } = await list(`${products}?limit=1`)
  expect(meta).toEqual({ count: data.length, total: all.total })
  expect(data.find(({ group }) => group['categ_id'] === 8)).toEqual({ group: { categ_id: 8 }, count: 3 })
  expect(data.at(-1)).toEqual({ group: { categ_id: null }, count: 1 })
  const ids = data.slice(0, -1).map(({ group }) => Number(group['categ_id']))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  for (const { group, count } of data) {
    const found = await list(`${products}?limit=1&filter=categ_id=${String(group['categ_id'])}`)
    expect(found.meta.total).toBe(count)
  }
  expect(await read('filter=categ_id=8&active=true&group=active,is_rsd_product')).toEqual({
    data: [
      { group: { active: true, is_rsd_product: false }, count: 1 },
      { group: { active: true, is_rsd_product: null }, count: 1 },
    ],
    meta: { count: 2, total: 2 },
  })
})

test('[G2] adds up, compares and averages exactly', async () => {
  const query = `filter=${encoded('id[1,2,3,20]')}&sum=list_price,qty_available&min=list_price&max=create_date&avg=list_price`
  const { text } = await send(`${summary}?${query}`)
  expect(text).toBe(
    '{"data":[{"group":{},"count":4,"sum":{"list_price":123456789012345678.723456,"qty_available":123456789012346013.623457},' +
      '"min":{"list_price":0.1},"max":{"create_date":"2026-01-20T10:00:00.000Z"},' +
      '"avg":{"list_price":30864197253086419.680864}}],"meta":{"count":1,"total":4}}',
  )
  expect(await read('filter=id=0&sum=id&min=id&avg=id')).toEqual({
    data: [{ group: {}, count: 0, sum: { id: 0 }, min: { id: null }, avg: { id: null } }],
    meta: { count: 1, total: 0 },
  })
  expect(await read('filter=id=0&group=active')).toEqual({ data: [], meta: { count: 0, total: 0 } })
})

test('[G3] groups timestamps by day, week or month in UTC', async () => {
  const filter = encoded('id<=7')
  const groups = async (unit: string) =>
    (await read(`group=create_date:${unit}&filter=${filter}`)).data.map(({ group, count }) => [
      group['create_date'],
      count,
    ])
  expect(await groups('day')).toEqual([
    ['2026-01-05', 4],
    ['2026-01-06', 2],
    ['2026-01-07', 1],
  ])
  expect(await groups('week')).toEqual([['2026-01-05', 7]])
  expect(await groups('month')).toEqual([['2026-01-01', 7]])
})

test('[G4] has an ETag, is 304 without a change, and takes QUERY and HEAD', async () => {
  const path = `${summary}?group=active&sum=id`
  const first = await send(path)
  const etag = first.headers.etag ?? ''
  expect(etag).toMatch(/^W\/"/)
  const again = await send(path, { headers: { 'if-none-match': etag } })
  expect([again.status, again.text]).toEqual([304, ''])
  const head = await send(path, { method: 'HEAD' })
  expect([head.status, head.text, head.headers.etag]).toEqual([200, '', etag])
  const queried = await send(summary, {
    method: 'QUERY',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'group=active&sum=id',
  })
  expect([queried.text, queried.headers.etag]).toEqual([first.text, etag])
  expect(problemIn(await send(path, { method: 'POST', body: '{}' }), 405).code).toBe('method_not_allowed')
})

test('[G5] rejects what it does not understand, with position and suggestion', async () => {
  const fault = async (query: string) => faultIn(await send(`${summary}?${query}`))
  expect(await fault('group=categ_idd')).toMatchObject({
    parameter: 'group',
    code: 'field_unknown',
    offset: 0,
    length: 9,
    suggestion: 'categ_id',
  })
  expect(await fault('sum=qty_available,name')).toMatchObject({
    parameter: 'sum',
    code: 'field_not_for_summary',
    offset: 14,
    length: 4,
  })
  expect(await fault('group=create_date')).toMatchObject({
    code: 'group_unit_invalid',
    suggestion: 'create_date:day',
  })
  expect(await fault('group=active,categ_id,id')).toMatchObject({ code: 'summary_too_large' })
  expect(await fault('filter=nane=Bolt')).toMatchObject({ parameter: 'filter', suggestion: 'name=Bolt' })
  expect(await fault('limit=5')).toMatchObject({ parameter: 'limit', code: 'parameter_unknown' })
  const { errors } = problemIn(await send(`${summary}?group=x&sum=y`), 400)
  expect(errors?.map(({ parameter }) => parameter)).toEqual(['group', 'sum'])
})

test('[G6] has at most 1000 groups; more are 400 with their number', async () => {
  const bulk = { host: 'bulk', key: keyOf('bulk') }
  const { meta } = await list(`${products}?limit=1`, bulk)
  const fault = faultIn(await send(`${summary}?group=id`, bulk))
  expect(fault).toMatchObject({ parameter: 'group', code: 'groups_too_many' })
  expect(fault.message).toContain(`have ${meta.total} groups; the maximum is 1000`)
  const most = summaryIn(await send(`${summary}?group=id&filter=${encoded('id<=1000')}`, bulk))
  expect(most.meta.count).toBe(most.meta.total)
})

test('[G7] needs the scope that reads the resource, and sees its account only', async () => {
  const of = (path: string, key: string) => send(`${path}/summary`, { key })
  expect((await of(products, keyOf('productRead'))).status).toBe(200)
  expect((await of(partners, keyOf('partnerRead'))).status).toBe(200)
  expect((await of(companies, keyOf('companyRead'))).status).toBe(200)
  expect(problemIn(await of(products, keyOf('companyRead')), 403).code).toBe('scope_missing')
  const globex = { host: 'globex', key: keyOf('globex') }
  const theirs = summaryIn(await send(summary, globex))
  expect(theirs.meta.total).toBe((await list(`${products}?limit=1`, globex)).meta.total)
  expect(theirs.meta.total).not.toBe((await read('')).meta.total)
})
