import { describe, expect, test } from 'vitest'
import {
  companies,
  createdId,
  faultIn,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  recordIn,
  send,
} from './client.ts'

/** Programs that change records only if no one else has. */

const initech = () => ({ host: 'initech', key: keyOf('initech') })
const json = { 'content-type': 'application/json' }

async function created(path: string, body: object): Promise<number> {
  return createdId(
    await send(path, { ...initech(), method: 'POST', headers: json, body: JSON.stringify(body) }),
  )
}

async function patch(path: string, body: object, etag: string) {
  const headers = { ...json, 'if-match': etag }
  return await send(path, { ...initech(), method: 'PATCH', headers, body: JSON.stringify(body) })
}

/** The ETag that a GET of the record returns. */
async function etagOf(path: string): Promise<string> {
  const { etag } = (await send(path, initech())).headers
  expect(etag).toMatch(/^"/)
  return etag ?? ''
}

interface Change {
  readonly change: string
  readonly id: number
  readonly etag?: string
  readonly record?: Readonly<Record<string, unknown>>
}

describe('etag in fields', () => {
  test('[T1] every read returns the ETag of the record if fields names it', async () => {
    const bodies = {
      [products]: { name: 'Conditional' },
      [partners]: { name: 'Conditional' },
      [companies]: { name: 'Conditional', branch_user: '007' },
    }
    for (const [path, body] of Object.entries(bodies)) {
      const start = await send(`${path}/changes?since=now`, initech())
      const id = await created(path, body)
      const etag = await etagOf(`${path}/${id}`)
      const query = `fields=etag,name&filter=id=${id}`
      expect((await list(`${path}?${query}`, initech())).data).toEqual([{ etag, name: 'Conditional' }])
      expect(recordIn(await send(`${path}/${id}?fields=id,etag`, initech()))).toEqual({ id, etag })
      const ndjson = { ...initech(), headers: { accept: 'application/x-ndjson' } }
      expect(JSON.parse((await send(`${path}?${query}`, ndjson)).text.split('\n')[0] ?? '')).toEqual({
        etag,
        name: 'Conditional',
      })
      for (const accept of ['text/csv', 'text/csv; form=spreadsheet']) {
        const csv = (
          await send(`${path}?fields=id,etag&filter=id=${id}`, { ...initech(), headers: { accept } })
        ).text
        expect(csv.split('\r\n')[1]).toBe(`${id},"${etag.replaceAll('"', '""')}"`)
      }
      const { cursor }: { cursor: string } = JSON.parse(start.text)
      const feed = await send(`${path}/changes?since=${cursor}&fields=name,etag`, initech())
      const { data }: { data: Change[] } = JSON.parse(feed.text)
      expect(data.filter((change) => change.id === id)).toMatchObject([
        { etag, record: { name: 'Conditional', etag } },
      ])
    }
  })

  test('[T1] lists with any filter and page have it, and no response has it unless it was requested', async () => {
    const ids = await Promise.all([1, 2, 3].map((n) => created(products, { name: `Etag list ${n}` })))
    const etags = await Promise.all(ids.map((id) => etagOf(`${products}/${id}`)))
    for (const query of [
      'filter=name*Etag list',
      `after_id=${Math.min(...ids) - 1}`,
      // Other tests create more records without a price than a page has.
      `filter=list_price<1&id>=${Math.min(...ids)}`,
    ]) {
      const page = await list(`${products}?limit=1000&fields=id,etag&${encodeURI(query)}`, initech())
      const found = new Map(page.data.map(({ id, etag }) => [id, etag]))
      expect(ids.map((id) => found.get(id))).toEqual(etags)
    }
    const [one] = (await list(`${products}?limit=1`, initech())).data
    expect(Object.keys(one ?? {})).not.toContain('etag')
    expect(Object.keys(recordIn(await send(`${products}/${ids[0]}`, initech())))).not.toContain('etag')
  })

  test('[T1] If-Match takes it, until the record changes', async () => {
    const id = await created(products, { name: 'Once' })
    const [row] = (await list(`${products}?fields=etag&filter=id=${id}`, initech())).data
    const etag = String(row?.['etag'])
    // A write of another record does not matter.
    await created(products, { name: 'Another' })
    const changed = await patch(`${products}/${id}`, { name: 'Twice' }, etag)
    expect(recordIn(changed)['name']).toBe('Twice')
    problemIn(await patch(`${products}/${id}`, { name: 'Thrice' }, etag), 412)
    const [now] = (await list(`${products}?fields=etag&filter=id=${id}`, initech())).data
    expect(now?.['etag']).toBe(changed.headers.etag)
  })

  test('[T1] a change that was created or updated has it, a deletion has none', async () => {
    const { cursor }: { cursor: string } = JSON.parse(
      (await send(`${products}/changes?since=now`, initech())).text,
    )
    const [kept, gone] = [
      await created(products, { name: 'Kept' }),
      await created(products, { name: 'Gone' }),
    ]
    await send(`${products}/${gone}`, { ...initech(), method: 'DELETE' })
    const feed = await send(`${products}/changes?since=${cursor}&fields=name&limit=1000`, initech())
    const { data }: { data: Change[] } = JSON.parse(feed.text)
    expect(data.find(({ id }) => id === kept)).toMatchObject({
      etag: await etagOf(`${products}/${kept}`),
      record: { name: 'Kept' },
    })
    expect(data.find(({ id }) => id === gone)).toEqual({
      change: 'deleted',
      id: gone,
      version: expect.any(Number),
    })
  })

  test('[T1] it is no field of a filter, and of no other list', async () => {
    const fault = faultIn(await send(`${products}?filter=etag=1`, initech()))
    expect(fault).toMatchObject({ parameter: 'filter', code: 'field_not_filterable', offset: 0, length: 4 })
    expect(faultIn(await send(`${products}?fields=id,etga`, initech())).suggestion).toBe('id,etag')
    const manage = await send('/manage/v1/keys?fields=etag', { key: keyOf('accountManage') })
    expect(faultIn(manage)).toMatchObject({ code: 'field_unknown' })
  })
})

interface Line {
  readonly line?: number
  readonly id?: number
  readonly field?: string
  readonly code?: string
  readonly value?: string
  readonly $end?: Readonly<Record<string, number>>
}

async function batch(rows: readonly object[], mode = 'update'): Promise<readonly Line[]> {
  const body = rows.map((row) => JSON.stringify(row)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const path = `${products}/batch?mode=${mode}`
  const response = await send(path, { ...initech(), method: 'POST', headers, body })
  expect(response.status, response.text).toBe(200)
  return response.text
    .trim()
    .split('\n')
    .map((line): Line => JSON.parse(line))
}

const end = (counts: object) => ({
  $end: { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, ...counts },
})
const priceOf = async (id: number) =>
  recordIn(await send(`${products}/${id}?fields=list_price`, initech()))['list_price']

describe('$if_match in a batch', () => {
  test('[T2] a row is written only if its record has the ETag', async () => {
    const [one, two] = [await created(products, { name: 'One' }), await created(products, { name: 'Two' })]
    const [etagOne, etagTwo] = [await etagOf(`${products}/${one}`), await etagOf(`${products}/${two}`)]
    await patch(`${products}/${two}`, { list_price: 9 }, etagTwo)
    const rows = [
      { id: one, list_price: 1.5, $if_match: etagOne },
      { $if_match: etagTwo, id: two, list_price: 2 },
    ]
    const [rejected, last] = await batch(rows)
    expect(rejected).toEqual({
      line: 2,
      id: two,
      field: '$if_match',
      reason: expect.stringContaining('changed'),
      value: etagTwo,
      code: 'changed',
    })
    expect(last).toEqual(end({ read: 2, updated: 1, rejected: 1 }))
    expect([await priceOf(one), await priceOf(two)]).toEqual([1.5, 9])
    // Sent again after a lost response, the row that was written is unchanged.
    expect((await batch(rows)).at(-1)).toEqual(end({ read: 2, unchanged: 1, rejected: 1 }))
  })

  test('[T2] of two rows of one record, the second does not have the ETag from before the first', async () => {
    const id = await created(products, { name: 'Twice' })
    const etag = await etagOf(`${products}/${id}`)
    const lines = await batch([
      { id, list_price: 1, $if_match: etag },
      { id, list_price: 2, $if_match: etag },
    ])
    expect(lines).toMatchObject([{ line: 2, code: 'changed' }, end({ read: 2, updated: 1, rejected: 1 })])
    expect(await priceOf(id)).toBe(1)
  })

  test('[T2] a deletion has a condition, too', async () => {
    const id = await created(products, { name: 'Going' })
    const old = await etagOf(`${products}/${id}`)
    const now = (await patch(`${products}/${id}`, { list_price: 3 }, old)).headers.etag
    const lines = await batch([{ $delete: id, $if_match: old }])
    expect(lines).toMatchObject([{ id, code: 'changed' }, end({ read: 1, rejected: 1 })])
    expect(await batch([{ $delete: id, $if_match: now }])).toEqual([end({ read: 1, deleted: 1 })])
    expect(await batch([{ $delete: id, $if_match: now }])).toEqual([end({ read: 1, unchanged: 1 })])
  })

  test('[T2] a row with a condition inserts no record, in either mode', async () => {
    const id = await created(products, { name: 'Gone' })
    const etag = await etagOf(`${products}/${id}`)
    await send(`${products}/${id}`, { ...initech(), method: 'DELETE' })
    for (const mode of ['update', 'upsert']) {
      const lines = await batch([{ id, name: 'Back', $if_match: etag }], mode)
      expect(lines.at(-1), mode).toEqual(end({ read: 1, rejected: 1 }))
    }
    const [rejected] = await batch([{ id, name: 'Back', $if_match: etag }])
    expect(rejected).toMatchObject({ id, field: '$if_match', code: 'record_unknown' })
  })

  test('[T2] what is not an ETag of the record is rejected, and in CSV the column', async () => {
    const [one, two] = [await created(products, { name: 'One' }), await created(products, { name: 'Two' })]
    const etag = await etagOf(`${products}/${two}`)
    const wrong = [etag, etag.replaceAll('"', ''), '*', '', 7, null, [etag], { etag }]
    const lines = await batch(wrong.map(($if_match) => ({ id: one, list_price: 1, $if_match })))
    expect(lines.slice(0, -1).map(({ line, field }) => [line, field])).toEqual(
      wrong.map((_, i) => [i + 1, '$if_match']),
    )
    expect(await priceOf(one)).toBe(0)
    for (const csv of ['id,$if_match\r\n1,""\r\n', 'id,etag\r\n1,""\r\n']) {
      const headers = { 'content-type': 'text/csv' }
      const response = await send(`${products}/batch`, { ...initech(), method: 'POST', headers, body: csv })
      expect(faultIn(response).message).toContain('$if_match')
    }
  })

  test('[T2] the result does not depend on which rows are in one transaction', async () => {
    const id = await created(products, { name: 'Boundary' })
    for (const before of [0, 998, 999, 1000]) {
      const etag = await etagOf(`${products}/${id}`)
      const fill = Array.from({ length: before }, (_, i) => ({ $delete: 900_000_000 + i }))
      const lines = await batch([
        ...fill,
        { id, list_price: before + 1, $if_match: etag },
        { id, list_price: before + 2, $if_match: etag },
      ])
      expect(lines).toMatchObject([
        { line: before + 2, code: 'changed' },
        end({ read: before + 2, updated: 1, unchanged: before, rejected: 1 }),
      ])
      expect(await priceOf(id)).toBe(before + 1)
    }
  })
})
