import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, inject, test } from 'vitest'
import {
  companies,
  create,
  createdId,
  keyOf,
  listIn,
  partners,
  products,
  type RequestOptions,
  send,
} from './client.ts'

const ifNoneMatch = (etag: string | undefined, options: RequestOptions = {}): RequestOptions => ({
  ...options,
  headers: { ...options.headers, 'if-none-match': etag ?? '' },
})
const initech: RequestOptions = { host: 'initech' }

describe('E3: ETag', () => {
  test('[E3-etag] a list or record that did not change is a 304 without a body', async () => {
    for (const path of [
      products,
      `${products}?filter=active=true&limit=3`,
      `${companies}/1`,
      `${products}/1?fields=id`,
    ]) {
      const first = await send(path)
      expect(first.headers.etag, path).toMatch(/^(W\/)?"[^"]+"$/)
      const again = await send(path, ifNoneMatch(first.headers.etag))
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', first.headers.etag])
      expect(again.headers['x-request-id']).toBeDefined()
    }
  })

  test('[E3-etag] equivalent queries have the same ETag, other queries another', async () => {
    const etag = async (query: string) => (await send(`${products}?${query}`)).headers.etag
    const one = await etag('filter=active=true&limit=3')
    expect(await etag('limit=3&filter=%20active%20%3D%20%22true%22&page=1')).toBe(one)
    const others = await Promise.all(
      [
        'filter=active=false&limit=3',
        'filter=active=true&limit=4',
        'limit=3',
        'filter=active=true&limit=3&fields=id',
      ].map(etag),
    )
    expect(new Set([one, ...others]).size).toBe(5)
  })

  test('[E3-etag] If-None-Match accepts several ETags and *', async () => {
    const { etag } = (await send(products)).headers
    expect((await send(products, ifNoneMatch(`"a", ${etag} , W/"b"`))).status).toBe(304)
    expect((await send(products, ifNoneMatch('*'))).status).toBe(304)
    expect((await send(products, ifNoneMatch('"a"'))).status).toBe(200)
    expect((await send(`${products}/999999`, ifNoneMatch('*'))).status).toBe(404)
  })

  test('[E3-etag] a write is seen by the next request: new ETag, new total, new record', async () => {
    const key = { ...initech, key: keyOf('initech') }
    const before = await send(`${partners}?limit=1000`, key)
    const { total } = listIn(before).meta
    for (let i = 1; i <= 5; i++) {
      const id = createdId(await create(JSON.stringify({ name: `Seen ${i}` }), key))
      const after = await send(`${partners}?limit=1000`, ifNoneMatch(before.headers.etag, key))
      const { data, meta } = listIn(after)
      expect([after.status, meta.total, data.at(-1)?.['id']]).toEqual([200, total + i, id])
      expect((await send(`${partners}/${id}`, key)).status).toBe(200)
    }
  })

  test('[E3-etag] a cached response is never sent to another account', async () => {
    const acme = await send(`${products}?limit=1`)
    const globex = await send(
      `${products}?limit=1`,
      ifNoneMatch(acme.headers.etag, { host: 'globex', key: keyOf('globex') }),
    )
    expect(globex.text).not.toBe(acme.text)
    expect(
      (await send(`${products}?limit=1`, ifNoneMatch(acme.headers.etag, { key: keyOf('globex') }))).status,
    ).toBe(401)
  })
})

describe('compressed responses', () => {
  test('[E3-etag] are sent if the client accepts gzip, with the same content', async () => {
    const path = `${products}?limit=30`
    const plain = await send(path)
    const compressed = await bytes(path, 'gzip')
    expect(compressed.encoding).toBe('gzip')
    expect(gunzipSync(compressed.body).toString()).toBe(plain.text)
    expect(compressed.etag).toBe(plain.headers.etag)
    expect((await bytes(path, 'gzip;q=0')).encoding).toBeUndefined()
    expect((await bytes(path, 'identity')).encoding).toBeUndefined()
    expect((await bytes(path, 'br, gzip;q=0.5')).encoding).toBe('gzip')
  })
})

function bytes(
  path: string,
  accepted: string,
): Promise<{ encoding: string | undefined; etag: string | undefined; body: Buffer }> {
  const { hostname, port } = new URL(inject('target').baseUrl)
  const headers = {
    host: `acme.${inject('target').domain}`,
    authorization: `Bearer ${keyOf('acme')}`,
    'accept-encoding': accepted,
  }
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () =>
        resolve({
          encoding: incoming.headers['content-encoding'],
          etag: incoming.headers.etag,
          body: Buffer.concat(chunks),
        }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}
