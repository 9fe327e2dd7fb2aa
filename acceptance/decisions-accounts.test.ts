import { describe, expect, inject, test } from 'vitest'
import {
  companies,
  create,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  type RequestOptions,
  recordIn,
  send,
} from './client.ts'

const name = async (options: RequestOptions) =>
  recordIn(await send(`${products}/1?fields=name`, options))['name']

describe('A1: the account', () => {
  test('[A1] is the first label of the host, whatever its case and port', async () => {
    const { domain } = inject('target')
    for (const host of [
      `acme.${domain}`,
      `ACME.${domain}`,
      `acme.${domain}:8080`,
      `Acme.${domain.toUpperCase()}`,
    ]) {
      expect(await name({ host })).toBe('Hex bolt M8')
    }
    expect(await name({ host: `globex.${domain}:1`, key: keyOf('globex') })).toBe('globex turbine')
  })

  test('[A1] any other host has no account', async () => {
    const { domain } = inject('target')
    for (const host of [
      'localhost',
      '127.0.0.1',
      '127.0.0.1:8080',
      'acme.example.com',
      `acme.${domain}.example.com`,
      `deep.acme.${domain}`,
      `nosuch.${domain}`,
      `acme${domain}:80`,
      `.${domain}`,
    ]) {
      problemIn(await send(products, { host }), 401)
    }
  })

  test('[A1] X-Forwarded-Host is ignored without a trusted proxy', async () => {
    const { domain } = inject('target')
    const headers = { 'x-forwarded-host': `globex.${domain}` }
    expect(await name({ headers })).toBe('Hex bolt M8')
    problemIn(await send(products, { headers, key: keyOf('globex') }), 401)
  })
})

const proxied = (): RequestOptions => ({ baseUrl: inject('target').local?.proxiedUrl ?? '' })

describe.skipIf(inject('target').local === undefined)('A1: with a default account, behind a proxy', () => {
  test('[A1] hosts without an account label get the default account', async () => {
    for (const host of ['localhost', 'localhost:8080', '127.0.0.1', '127.0.0.1:8080', '[::1]:8080']) {
      expect(await name({ ...proxied(), host })).toBe('Hex bolt M8')
    }
    expect(await name({ ...proxied(), host: 'globex', key: keyOf('globex') })).toBe('globex turbine')
    problemIn(await send(products, { ...proxied(), host: 'nosuch' }), 401)
    problemIn(await send(products, { ...proxied(), host: 'localhost', key: keyOf('globex') }), 401)
  })

  test('[A1] X-Forwarded-Host is used from a trusted proxy', async () => {
    const headers = { 'x-forwarded-host': 'globex.localhost' }
    expect(await name({ ...proxied(), host: 'inside.example', headers, key: keyOf('globex') })).toBe(
      'globex turbine',
    )
    problemIn(await send(products, { ...proxied(), headers }), 401)
  })
})

/** A key with one random character changed, so that its checksum is wrong. */
const tampered = () => keyOf('acme').replace(/^qm_(.)/, (_, first) => `qm_${first === 'A' ? 'B' : 'A'}`)

const unauthenticated = (): Record<string, RequestOptions> => ({
  'no header': { key: null },
  'an empty header': { key: null, headers: { authorization: '' } },
  'no key': { key: null, headers: { authorization: 'Bearer' } },
  'the key without a scheme': { key: null, headers: { authorization: keyOf('acme') } },
  'another scheme': { key: null, headers: { authorization: `Basic ${keyOf('acme')}` } },
  'something after the key': { key: null, headers: { authorization: `Bearer ${keyOf('acme')} x` } },
  'a key in another format': { key: 'secret' },
  'a wrong checksum': { key: tampered() },
  'an unknown key': { key: `qm_${'0'.repeat(36)}` },
  'an expired key': { key: keyOf('expired') },
  'a revoked key': { key: keyOf('revoked') },
  'a key of another account': { key: keyOf('globex') },
  'an unknown host': { host: 'nosuch' },
  'a host without account': { host: 'localhost' },
  'a suspended account': { host: 'hooli', key: keyOf('suspended') },
  'a key of a suspended account elsewhere': { key: keyOf('suspended') },
})

describe('A2: 401', () => {
  test('[A2][B8] the response is the same for every cause', async () => {
    const bodies = new Set<string>()
    for (const [cause, options] of Object.entries(unauthenticated())) {
      const response = await send(products, options)
      expect(response.status, cause).toBe(401)
      expect(response.headers['www-authenticate'], cause).toBe('Bearer')
      const { request_id, ...rest } = problemIn(response, 401)
      expect(request_id).toBe(response.headers['x-request-id'])
      bodies.add(JSON.stringify(rest))
    }
    expect([...bodies]).toHaveLength(1)
  })

  test('[A2][B9] authentication is checked before everything else in the request', async () => {
    const key = null
    const json = { 'content-type': 'application/json' }
    for (const [path, options] of [
      [`${products}?limit=0`, { key }],
      [`${products}?filter=(`, { key }],
      [`${products}/999`, { key }],
      [`${products}/1?nosuch=1`, { key }],
      ['/api/v1/nosuch', { key }],
      ['/nosuch', { key }],
      ['/', { key }],
      ['/%zz', { key }],
      [products, { key, method: 'DELETE' }],
      [partners, { key, method: 'POST', headers: json, body: '{' }],
      [partners, { key, method: 'POST', headers: json, body: `"${'x'.repeat(100_000)}"` }],
      [products, { key, method: 'QUERY', headers: json, body: '{}' }],
    ] as const) {
      expect(problemIn(await send(path, options), 401).code).toBe('unauthenticated')
    }
  })

  test('[A2] a key in the URL is not accepted', async () => {
    for (const query of ['api_key', 'key', 'access_token', 'authorization']) {
      problemIn(await send(`${products}?${query}=${keyOf('acme')}`, { key: null }), 401)
    }
  })
})

describe('A4: scopes', () => {
  const json = { 'content-type': 'application/json' }
  const reads = [
    ['productRead', products],
    ['partnerRead', partners],
    ['companyRead', companies],
  ] as const
  const keys = ['productRead', 'partnerRead', 'partnerCreate', 'companyRead', 'accountManage'] as const

  for (const holder of keys) {
    test(`[A4] ${holder} gives access to its operation and nothing else`, async () => {
      const key = keyOf(holder)
      for (const [needed, path] of reads) {
        for (const options of [{ key }, { key, method: 'HEAD' }] as const) {
          expect((await send(path, options)).status).toBe(needed === holder ? 200 : 403)
          expect((await send(`${path}/1`, options)).status).toBe(needed === holder ? 200 : 403)
        }
        const query = {
          key,
          method: 'QUERY',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }
        expect((await send(path, { ...query, body: '' })).status).toBe(needed === holder ? 200 : 403)
      }
      // An invalid body gets 400 if the key may create, and creates nothing.
      const post = await send(partners, { key, method: 'POST', headers: json, body: '{}' })
      expect(post.status).toBe(holder === 'partnerCreate' ? 400 : 403)
      if (post.status === 403) expect(problemIn(post, 403).code).toBe('scope_missing')
    })
  }

  test('[A4] a key without the scope partner:create creates nothing', async () => {
    const response = await create('{"name":"Not allowed"}', { host: 'acme', key: keyOf('partnerRead') })
    expect(problemIn(response, 403).code).toBe('scope_missing')
    expect((await list(`${partners}?filter=name="Not%20allowed"`)).meta.total).toBe(0)
  })
})

describe('A5: the headers of the examples', () => {
  test('[A5] a GET may carry a JSON content type without a body', async () => {
    for (const path of [products, `${partners}/1`, companies]) {
      expect((await send(path, { headers: { 'content-type': 'application/json' } })).status).toBe(200)
    }
  })

  test('[A5] accept: */* or no Accept means JSON', async () => {
    const plain = await send(`${products}?limit=2`)
    const any = await send(`${products}?limit=2`, { headers: { accept: '*/*' } })
    expect(any.headers['content-type']).toMatch(/^application\/json\b/)
    expect(any.text).toBe(plain.text)
    expect(plain.headers['content-type']).toMatch(/^application\/json\b/)
  })
})
