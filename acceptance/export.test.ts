import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, inject, test } from 'vitest'
import {
  companies,
  encoded,
  faultIn,
  keyOf,
  list,
  listIn,
  partners,
  problemIn,
  products,
  type RequestOptions,
  type Row,
  send,
} from './client.ts'

const ndjson = 'application/x-ndjson'
const csv = 'text/csv'
const spreadsheet = 'text/csv; form=spreadsheet'
const accepting = (accept: string, options: RequestOptions = {}): RequestOptions => ({
  ...options,
  headers: { ...options.headers, accept },
})

interface End {
  readonly $end: { readonly count: number; readonly version: string }
}

async function exported(
  path: string,
  options: RequestOptions = {},
): Promise<{ records: Row[]; end: End['$end'] }> {
  const response = await send(path, accepting(ndjson, options))
  expect([response.status, response.headers['content-type']]).toEqual([200, ndjson])
  expect(response.text.endsWith('\n')).toBe(true)
  const lines = response.text.slice(0, -1).split('\n')
  const end: End = JSON.parse(lines.pop() ?? '')
  return { records: lines.map((line): Row => JSON.parse(line)), end: end.$end }
}

/** A minimal parser of RFC 4180: rows of cells, each with its text and whether it was quoted. */
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

  test('[B10] accepts no page and no limit, and rejects what a list rejects', async () => {
    for (const name of ['page', 'limit']) {
      const fault = faultIn(await send(`${products}?${name}=1`, accepting(csv)))
      expect([fault.parameter, fault.code]).toEqual([name, 'parameter_not_for_export'])
    }
    expect(faultIn(await send(`${products}?filter=nane=x`, accepting(ndjson))).code).toBe('field_unknown')
    problemIn(await send(products, accepting(csv, { key: null })), 401)
    problemIn(await send(partners, accepting(csv, { key: keyOf('productRead') })), 403)
  })

  test('[B10] has the total in a header, the count in a trailer, and a file name', async () => {
    const { meta } = await list(products)
    const response = await send(products, accepting(csv))
    expect(response.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="products.csv"',
      'x-total-count': String(meta.total),
      trailer: 'x-record-count',
      vary: 'accept, accept-encoding',
    })
    expect(await trailersOf(`${products}?filter=${encoded('id<3')}`)).toEqual({ 'x-record-count': '2' })
    const head = await send(products, accepting(csv, { method: 'HEAD' }))
    expect([head.status, head.text, head.headers['x-total-count']]).toEqual([200, '', String(meta.total)])
  })

  test('[B10] is a 304 if unchanged; each format has its own ETag, which contains the version', async () => {
    const [one, other] = [await send(products, accepting(csv)), await send(products, accepting(ndjson))]
    const json = await send(products)
    expect(new Set([one, other, json].map(({ headers }) => headers.etag)).size).toBe(3)
    expect(one.headers.etag).toContain((await exported(products)).end.version)
    for (const accept of [csv, ndjson]) {
      const etag = (accept === csv ? one : other).headers.etag ?? ''
      const again = await send(products, accepting(accept, { headers: { 'if-none-match': etag } }))
      expect([again.status, again.text]).toEqual([304, ''])
    }
  })

  test('[B10] is compressed if the client accepts gzip', async () => {
    const target = inject('target')
    const { hostname, port } = new URL(target.baseUrl)
    const headers = {
      host: `acme.${target.domain}`,
      authorization: `Bearer ${target.keys.acme}`,
      accept: ndjson,
      'accept-encoding': 'gzip',
    }
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      request({ hostname, port, path: products, headers, agent: false }, (response) => {
        expect(response.headers['content-encoding']).toBe('gzip')
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks)))
      })
        .on('error', reject)
        .end()
    })
    expect(gunzipSync(bytes).toString()).toBe((await send(products, accepting(ndjson))).text)
  })
})

function trailersOf(path: string): Promise<NodeJS.Dict<string>> {
  const target = inject('target')
  const { hostname, port } = new URL(target.baseUrl)
  const headers = { host: `acme.${target.domain}`, authorization: `Bearer ${target.keys.acme}`, accept: csv }
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers, agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.trailers))
    })
      .on('error', reject)
      .end()
  })
}

describe('B11: CSV', () => {
  const formula = /^[=+\-@\t\r\n＝＋－＠]/
  const recordsIn = (text: string): Record<string, unknown>[] => {
    expect(text.startsWith('\uFEFF')).toBe(true)
    const [names = [], ...rows] = rowsOf(text.slice(1))
    return rows.map((row) =>
      Object.fromEntries(
        row.map((cell, i): [string, unknown] => {
          const name = names[i]?.text ?? ''
          if (cell.quoted) return [name, cell.text]
          if (cell.text === '') return [name, null]
          return [name, name.endsWith('_date') ? cell.text : JSON.parse(cell.text)]
        }),
      ),
    )
  }

  test('[B11] has every record with its exact texts', async () => {
    for (const path of [products, partners, companies]) {
      const { text } = await send(path, accepting(csv))
      expect(recordsIn(text)).toEqual((await exported(path)).records)
    }
  })

  test('[B11] for spreadsheets has no text that a spreadsheet would execute as a formula', async () => {
    for (const path of [products, partners, companies]) {
      const { text } = await send(path, accepting(spreadsheet))
      const read = recordsIn(text).map((record) =>
        Object.fromEntries(
          Object.entries(record).map(([column, cell]): [string, unknown] => {
            if (!column.startsWith("'")) return [column, cell]
            if (typeof cell !== 'string') return [column.slice(1), cell]
            expect(cell).not.toMatch(formula)
            return [column.slice(1), cell.replace(/^'('*(?:[=+\-@\t\r\n＝＋－＠]|$))/, '$1')]
          }),
        ),
      )
      expect(read).toEqual((await exported(path)).records)
    }
    const phones = (await exported(`${partners}?fields=phone`)).records.map(({ phone }) => String(phone))
    expect(phones.some((phone) => formula.test(phone))).toBe(true)
  })
})

describe('B12: Accept', () => {
  test('[B12] only an explicit media type requests an export; everything else returns JSON', async () => {
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
      expect(listIn(await send(`${products}?limit=1`, accepting(accept))).data, accept).toHaveLength(1)
    }
    for (const [accept, type] of [
      ['text/csv, */*;q=0.1', 'text/csv'],
      ['*/*, application/x-ndjson', ndjson],
      ['application/x-ndjson;q=0.5, text/csv;q=0.6', 'text/csv'],
      ['TEXT/CSV; charset=UTF-8', 'text/csv'],
      ['text/csv; form=spreadsheet', 'text/csv'],
    ] as const) {
      const response = await send(products, accepting(accept))
      expect([response.status, response.headers['content-type']?.split(';')[0]], accept).toEqual([200, type])
    }
    expect(listIn(await send(products, { headers: {} })).data).toHaveLength(10)
  })

  test('[B12] an unknown form of an export is rejected', async () => {
    for (const accept of ['text/csv; form=excel', 'application/x-ndjson; form=spreadsheet']) {
      const fault = faultIn(await send(products, accepting(accept)))
      expect([fault.parameter, fault.code]).toEqual(['Accept', 'header_invalid'])
    }
  })
})
