import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, inject, test } from 'vitest'
import { companies, keyOf, problemIn, products, recordIn, send } from './client.ts'

const initech = () => ({ host: 'initech', key: keyOf('initech') })
const ndjson = { 'content-type': 'application/x-ndjson' }

async function batch(body: string, headers: Record<string, string> = ndjson, path = products) {
  const response = await send(`${path}/batch`, { ...initech(), method: 'POST', headers, body })
  const lines = response.text.trim().split('\n')
  return { ...response, lines: lines.map((line): Record<string, unknown> => JSON.parse(line)) }
}
const totals = (counts: object) => ({
  $end: { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, ...counts },
})
const nameOf = async (id: number) => recordIn(await send(`${products}/${id}?fields=name`, initech()))['name']

describe('a batch', () => {
  test('[W7] inserts, changes and deletes, and changes nothing the second time', async () => {
    const rows = '{"id":710001,"name":"Bolt","list_price":1.50}\n{"id":710002,"name":"Nut"}\n'
    const first = await batch(rows)
    expect([first.status, first.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    expect(first.lines).toEqual([totals({ read: 2, inserted: 2 })])
    expect((await batch(rows)).lines).toEqual([totals({ read: 2, unchanged: 2 })])
    const changes = '{"id":710001,"name":"Screw"}\n{"$delete":710002}\n{"$delete":710003}\n'
    expect((await batch(changes)).lines).toEqual([totals({ read: 3, updated: 1, deleted: 1, unchanged: 1 })])
    expect(recordIn(await send(`${products}/710001`, initech()))).toMatchObject({
      name: 'Screw',
      list_price: 1.5,
    })
    problemIn(await send(`${products}/710002`, initech()), 404)
  })

  test('[W7] has a line for each rejected row, and writes the others', async () => {
    const { lines } = await batch(
      '{"id":711001,"name":"Good"}\n{"id":711002,"name":7}\nnonsense\n{"id":711003,"list_price":1}\n{"id":711004,"name":"Good, too"}',
    )
    expect(lines.at(-1)).toEqual(totals({ read: 5, inserted: 2, rejected: 3 }))
    const rejected = lines.slice(0, -1).toSorted((a, b) => Number(a['line']) - Number(b['line']))
    expect(rejected).toMatchObject([
      { line: 2, id: 711002, field: 'name', value: '7' },
      { line: 3, value: 'nonsense' },
      { line: 4, id: 711003, field: 'name' },
    ])
    expect(await nameOf(711004)).toBe('Good, too')
  })

  test('[W7] needs the scope of the resource', async () => {
    const options = { method: 'POST', key: keyOf('partnerCreate'), headers: ndjson, body: '{"id":1}' }
    problemIn(await send(`${products}/batch`, options), 403)
  })

  test('[W8] takes CSV', async () => {
    const csv = '\uFEFFid,name,branch_user\r\n712001,"Quay, side",00417\r\n'
    expect((await batch(csv, { 'content-type': 'text/csv; charset=utf-8' }, companies)).lines).toEqual([
      totals({ read: 1, inserted: 1 }),
    ])
    expect(recordIn(await send(`${companies}/712001?fields=name,branch_user`, initech()))).toEqual({
      name: 'Quay, side',
      branch_user: '00417',
    })
  })

  test('[W8] takes gzip', async () => {
    const { hostname, port } = new URL(inject('target').baseUrl)
    const body = gzipSync('{"id":713001,"name":"Compressed"}\n')
    const headers = {
      ...ndjson,
      'content-encoding': 'gzip',
      host: `initech.${inject('target').domain}`,
      authorization: `Bearer ${keyOf('initech')}`,
    }
    const text = await new Promise<string>((resolve, reject) => {
      const outgoing = request({
        hostname,
        port,
        method: 'POST',
        path: `${products}/batch`,
        headers,
        agent: false,
      })
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        let received = ''
        incoming.on('data', (chunk: Buffer) => {
          received += chunk.toString()
        })
        incoming.on('end', () => resolve(received))
      })
      outgoing.end(body)
    })
    expect(JSON.parse(text)).toEqual(totals({ read: 1, inserted: 1 }))
    expect(await nameOf(713001)).toBe('Compressed')
  })

  test('[W9] with an unknown field in its first row is a 400, and of another type a 415', async () => {
    const misspelt = await send(`${products}/batch`, {
      ...initech(),
      method: 'POST',
      headers: ndjson,
      body: '{"id":714001,"nmae":"x"}\n',
    })
    expect(problemIn(misspelt, 400).detail).toContain('did you mean name?')
    const of = (type: string) => ({
      ...initech(),
      method: 'POST',
      headers: { 'content-type': type },
      body: '{"id":1}',
    })
    expect(problemIn(await send(`${products}/batch`, of('application/json')), 400).code).toBe('body_invalid')
    const text = await send(`${products}/batch`, of('text/plain'))
    expect(problemIn(text, 415).code).toBe('media_type_unsupported')
    expect(text.headers).toMatchObject({ 'accept-post': expect.stringContaining('application/x-ndjson') })
  })

  test('[W9] that fails after some rows ends with $error, and can be sent again', async () => {
    const rows = Array.from({ length: 1500 }, (_, i) => `{"id":${715001 + i},"name":"Row"}\n`).join('')
    const { status, lines } = await batch(`${rows}{"id":"${'x'.repeat(1_200_000)}`)
    expect(status).toBe(200)
    expect(lines).toMatchObject([{ $error: { code: 'body_invalid', status: 400 } }])
    expect((await batch(rows)).lines.at(-1)).toMatchObject({ $end: { read: 1500, rejected: 0 } })
  })

  test('[W9] supports no other method', async () => {
    const response = await send(`${products}/batch`, initech())
    problemIn(response, 405)
    expect(response.headers.allow).toBe('POST')
  })
})
