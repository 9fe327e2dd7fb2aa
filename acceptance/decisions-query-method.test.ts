import { describe, expect, test } from 'vitest'
import {
  companies,
  encoded,
  faultIn,
  list,
  partners,
  problemIn,
  products,
  type RequestOptions,
  send,
} from './client.ts'

const form = 'application/x-www-form-urlencoded'
const query = (body: string, type = form): RequestOptions => ({
  method: 'QUERY',
  headers: { 'content-type': type },
  body,
})

describe('Q7: QUERY', () => {
  test('[Q7] a QUERY with the parameters in its body returns the same list as GET', async () => {
    const parameters = 'filter=list_price>10&active=true&limit=5&fields=id,name&page=2'
    expect(await list(products, query(parameters))).toEqual(await list(`${products}?${parameters}`))
    expect(await list(partners, query('limit=2'))).toEqual(await list(`${partners}?limit=2`))
    expect(await list(companies, query(''))).toEqual(await list(companies))
    expect(await list(products, query('limit=2', `${form}; charset=utf-8`))).toEqual(
      await list(`${products}?limit=2`),
    )
  })

  test('[Q7] a filter that is too long for a URL works with QUERY', async () => {
    const codes = Array.from({ length: 900 }, (_, i) => `"no such product code ${i}"`)
    const filter = `default_code[${[...codes, 'MIX'].join(',')}]`
    expect(filter.length).toBeGreaterThan(16 * 1024)
    const found = await list(products, query(`fields=id&filter=${encoded(filter)}`))
    expect(found.data).toEqual([{ id: 28 }])
    expect([414, 431]).toContain((await send(`${products}?filter=${encoded(filter)}`)).status)
  })

  test('[Q7] invalid parameters in the body are a 400, as in a URL', async () => {
    expect(faultIn(await send(products, query('limit=0'))).code).toBe('limit_invalid')
    expect(faultIn(await send(products, query('nosuch=1'))).code).toBe('parameter_unknown')
    expect(faultIn(await send(products, query('filter=list_prise>10'))).code).toBe('field_unknown')
  })

  test('[Q7] a URL can have up to 16 KB', async () => {
    const spaces = '%20'.repeat(5300)
    const path = `${products}?fields=id&filter=id=1${spaces}`
    expect(path.length).toBeGreaterThan(15_900)
    expect((await list(path)).data).toEqual([{ id: 1 }])
  })

  test('[B6] another content type is a 415 with Accept-Query', async () => {
    for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
      const response = await send(products, query('{"limit":2}', type))
      expect(problemIn(response, 415).code).toBe('media_type_unsupported')
      expect(response.headers).toMatchObject({ 'accept-query': expect.stringContaining(form) })
    }
  })

  test('[Q7][B6] every list announces QUERY and its content type, and nothing else does', async () => {
    const announced = async (path: string, options: RequestOptions = {}) =>
      (await send(path, options)).headers['accept-query']
    const lists = [
      products,
      partners,
      companies,
      `${products}/changes`,
      '/manage/v1/keys',
      '/manage/v1/usage',
    ]
    for (const path of lists) {
      expect(await announced(`${path}?limit=1`), path).toBe(form)
      expect((await send(path, query('limit=1'))).status, path).toBe(200)
    }
    const { etag = '' } = (await send(products)).headers
    const others: RequestOptions[] = [
      { method: 'HEAD' },
      { headers: { 'if-none-match': etag } },
      { headers: { accept: 'text/csv' } },
      query('limit=0'),
    ]
    for (const options of others) expect(await announced(products, options)).toBe(form)
    for (const path of [`${products}/1`, '/livez', '/openapi.json']) {
      expect(await announced(path), path).toBeUndefined()
      expect((await send(path, query('limit=1'))).status, path).toBe(405)
    }
  })

  test('[Q7] a QUERY has the ETag of the GET with the same parameters, and returns 304 for it', async () => {
    const parameters = 'filter=list_price>10&limit=5'
    const { etag = '' } = (await send(`${products}?${parameters}`)).headers
    const { headers = {}, ...rest } = query(parameters)
    const unchanged = await send(products, { ...rest, headers: { ...headers, 'if-none-match': etag } })
    expect([unchanged.status, unchanged.text, unchanged.headers.etag]).toEqual([304, '', etag])
    const other = await send(products, {
      ...query('limit=5'),
      headers: { ...headers, 'if-none-match': etag },
    })
    expect(other.status).toBe(200)
  })

  test('[B6] a missing content type is rejected, with and without a body', async () => {
    for (const rest of [{}, { body: '' }, { body: 'limit=2' }]) {
      const response = await send(products, { method: 'QUERY', ...rest })
      expect([400, 415], response.text).toContain(response.status)
    }
  })

  test('[B6] parameters in the URL of a QUERY are a 400', async () => {
    problemIn(await send(`${products}?limit=2`, query('page=1')), 400)
  })
})
