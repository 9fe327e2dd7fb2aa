import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, inject, test } from 'vitest'
import {
  type Ask,
  companies,
  encoded,
  faultIn,
  keyOf,
  list,
  listIn,
  partners,
  problemIn,
  products,
  type Row,
  send,
} from './client.ts'

const ndjson = 'application/x-ndjson'
const csv = 'text/csv'
const as = (accept: string, more: Ask = {}): Ask => ({ ...more, headers: { ...more.headers, accept } })

interface End {
  readonly $end: { readonly count: number; readonly version: string }
}

async function exported(path: string, ask: Ask = {}): Promise<{ records: Row[]; end: End['$end'] }> {
  const answer = await send(path, as(ndjson, ask))
  expect([answer.status, answer.headers['content-type']]).toEqual([200, ndjson])
  expect(answer.text.endsWith('\n')).toBe(true)
  const lines = answer.text.slice(0, -1).split('\n')
  const end: End = JSON.parse(lines.pop() ?? '')
  return { records: lines.map((line): Row => JSON.parse(line)), end: end.$end }
}

/** A reader of RFC 4180 as short as the format: rows of cells, each with whether it stood in quotes. */
function rowsOf(text: string): { text: string; quoted: boolean }[][] {
  const rows: { text: string; quoted: boolean }[][] = [[]]
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy
  for (let found = cell.exec(text); found !== null; found = cell.exec(text)) {
    const [, raw = '', end] = found
    const quoted = raw.startsWith('"')
    rows.at(-1)?.push({ quoted, text: quoted ? raw.slice(1, -1).replaceAll('""', '"') : raw })
    if (end === '\r\n') rows.push([])
  }
  expect(rows.pop()).toEqual([])
  return rows
}

describe('B10: export', () => {
  test('[B10] has every record of the list, by GET and by QUERY, with fields and filter', async () => {
    for (const [path, query] of [
      [products, ''],
      [partners, ''],
      [companies, ''],
      [products, 'fields=name,id'],
      [products, `filter=${encoded('active=true&list_price>10')}`],
      [products, `fields=id&filter=${encoded('name*HEX|categ_id[8,9]')}`],
      [products, 'filter=id=-1'],
    ] as const) {
      const { data, meta } = await list(`${path}?limit=1000&${query}`)
      const { records, end } = await exported(`${path}?${query}`)
      expect(records, query).toEqual(data)
      expect(end).toEqual({ count: meta.total, version: expect.stringMatching(/^\S+$/) })
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const queried = await exported(path, { method: 'QUERY', headers: form, body: query })
      expect(queried).toEqual({ records, end })
    }
  })

  test('[B10] takes no page and no limit, and refuses what a list refuses', async () => {
    for (const name of ['page', 'limit']) {
      const fault = faultIn(await send(`${products}?${name}=1`, as(csv)))
      expect([fault.parameter, fault.code]).toEqual([name, 'parameter_not_for_export'])
    }
    expect(faultIn(await send(`${products}?filter=nane=x`, as(ndjson))).code).toBe('field_unknown')
    problemIn(await send(products, as(csv, { key: null })), 401)
    problemIn(await send(partners, as(csv, { key: keyOf('productRead') })), 403)
  })

  test('[B10] tells its total beforehand and its count afterwards, and has a name', async () => {
    const { meta } = await list(products)
    const answer = await send(products, as(csv))
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="products.csv"',
      'x-total-count': String(meta.total),
      trailer: 'x-record-count',
      vary: 'accept, accept-encoding',
    })
    expect(await trailersOf(`${products}?filter=${encoded('id<3')}`)).toEqual({ 'x-record-count': '2' })
    const head = await send(products, as(csv, { method: 'HEAD' }))
    expect([head.status, head.text, head.headers['x-total-count']]).toEqual([200, '', String(meta.total)])
  })

  test('[B10] unchanged is a 304; each form has its own ETag, which names the version', async () => {
    const [one, other] = [await send(products, as(csv)), await send(products, as(ndjson))]
    const json = await send(products)
    expect(new Set([one, other, json].map(({ headers }) => headers.etag)).size).toBe(3)
    expect(one.headers.etag).toContain((await exported(products)).end.version)
    for (const accept of [csv, ndjson]) {
      const etag = (accept === csv ? one : other).headers.etag ?? ''
      const again = await send(products, as(accept, { headers: { 'if-none-match': etag } }))
      expect([again.status, again.text]).toEqual([304, ''])
    }
  })

  test('[B10] comes compressed where that is asked for', async () => {
    const place = inject('place')
    const { hostname, port } = new URL(place.baseUrl)
    const headers = {
      host: `acme.${place.domain}`,
      authorization: `Bearer ${place.keys.acme}`,
      accept: ndjson,
      'accept-encoding': 'gzip',
    }
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      request({ hostname, port, path: products, headers, agent: false }, (answer) => {
        expect(answer.headers['content-encoding']).toBe('gzip')
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.on('end', () => resolve(Buffer.concat(pieces)))
      })
        .on('error', reject)
        .end()
    })
    expect(gunzipSync(bytes).toString()).toBe((await send(products, as(ndjson))).text)
  })
})

function trailersOf(path: string): Promise<NodeJS.Dict<string>> {
  const place = inject('place')
  const { hostname, port } = new URL(place.baseUrl)
  const headers = { host: `acme.${place.domain}`, authorization: `Bearer ${place.keys.acme}`, accept: csv }
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers, agent: false }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.trailers))
    })
      .on('error', reject)
      .end()
  })
}

describe('B11: CSV', () => {
  test('[B11] gives back every record, with nothing that a spreadsheet would run', async () => {
    const formula = /^[=+\-@\t\r\n＝＋－＠]/
    for (const path of [products, partners, companies]) {
      const { records } = await exported(path)
      const { text } = await send(path, as(csv))
      expect(text.startsWith('\uFEFF')).toBe(true)
      const [names = [], ...rows] = rowsOf(text.slice(1))
      const read = rows.map((row) =>
        Object.fromEntries(
          row.map((cell, i): [string, unknown] => {
            const name = names[i]?.text ?? ''
            if (cell.quoted) {
              expect(cell.text).not.toMatch(formula)
              return [name, cell.text.replace(/^'('*[=+\-@\t\r\n＝＋－＠])/, '$1')]
            }
            if (cell.text === '') return [name, null]
            return [name, name.endsWith('_date') ? cell.text : JSON.parse(cell.text)]
          }),
        ),
      )
      expect(read).toEqual(records)
    }
    const phones = (await exported(`${partners}?fields=phone`)).records.map(({ phone }) => String(phone))
    expect(phones.some((phone) => formula.test(phone))).toBe(true)
  })
})

describe('B12: Accept', () => {
  test('[B12] only the name of a type asks for an export; everything else is JSON as ever', async () => {
    for (const accept of [
      '*/*',
      'application/json',
      'text/*',
      'application/*',
      'image/png',
      'text/html,*/*;q=0.8',
      'text/csv;q=0.5,*/*',
      'text/csv;q=0',
      'text/csv;header=absent',
    ]) {
      expect(listIn(await send(`${products}?limit=1`, as(accept))).data, accept).toHaveLength(1)
    }
    for (const [accept, type] of [
      ['text/csv, */*;q=0.1', 'text/csv'],
      ['*/*, application/x-ndjson', ndjson],
      ['application/x-ndjson;q=0.5, text/csv;q=0.6', 'text/csv'],
      ['TEXT/CSV; charset=UTF-8', 'text/csv'],
    ] as const) {
      const answer = await send(products, as(accept))
      expect([answer.status, answer.headers['content-type']?.split(';')[0]], accept).toEqual([200, type])
    }
    expect(listIn(await send(products, { headers: {} })).data).toHaveLength(10)
  })
})
