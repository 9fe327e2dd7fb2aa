import { beforeAll, describe, expect, inject, test } from 'vitest'
import {
  companies,
  create,
  keyOf,
  partners,
  problemIn,
  products,
  type RequestOptions,
  send,
} from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

const own = inject('target').local
const environment = { DATABASE_URL: own?.databaseUrl ?? '' }
const policyForm = /^"account";q=\d+;w=60, "key";q=\d+;w=60$/
const stateForm = /^"account";r=\d+;t=\d+, "key";r=\d+;t=\d+$/

/** Creates an account with a rate limit and keys. */
async function limited(name: string, keys: number, ...limit: readonly string[]): Promise<RequestOptions[]> {
  await quartermaster(environment, 'account', 'create', name)
  await quartermaster(environment, 'account', 'limit', name, ...limit)
  const requests: RequestOptions[] = []
  for (let n = 0; n < keys; n++) {
    requests.push({ host: name, key: (await issueKey(environment, name, `key ${n}`)).key })
  }
  return requests
}

describe('E3: the headers RateLimit and RateLimit-Policy', () => {
  test('[E3-ratelimit] are on every response to a request with a valid key, whatever its status', async () => {
    const first = await send(products)
    const responses = [
      first,
      await send(products, { headers: { 'if-none-match': first.headers.etag ?? '' } }),
      await send(`${products}/1`),
      await create('{"name":"Counted"}'),
      await send(`${products}?limit=0`),
      await send(partners, { key: keyOf('productRead') }),
      await send('/api/v1/nothing'),
      await send('/api/v1/%zz'),
      await send(products, { method: 'DELETE' }),
      await send(`${products}?filter=name=${'x'.repeat(16_400)}`),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 304, 200, 201, 400, 403, 404, 404, 405, 414])
    for (const { headers } of responses) {
      expect(headers['ratelimit-policy']).toMatch(policyForm)
      expect(headers['ratelimit']).toMatch(stateForm)
    }
  })

  test('[E3-ratelimit] are not on a 401, nor on paths that need no key', async () => {
    for (const response of [await send(products, { key: null }), await send('/livez')]) {
      expect(response.headers).not.toHaveProperty('ratelimit')
      expect(response.headers).not.toHaveProperty('ratelimit-policy')
    }
  })
})

describe.skipIf(own === undefined)('E2: rate limits', () => {
  let small: RequestOptions[]
  beforeAll(async () => {
    small = await limited('small', 3, '--requests', '5', '--key-requests', '2')
  })

  test('[E2-429][8-6] a key over its limit gets 429 with Retry-After', async () => {
    const remaining = []
    for (let n = 0; n < 2; n++) {
      const response = await send(companies, small[0])
      expect(response.status).toBe(200)
      expect(response.headers['ratelimit-policy']).toBe('"account";q=5;w=60, "key";q=2;w=60')
      remaining.push(
        /^"account";r=(\d+);t=\d+, "key";r=(\d+);/.exec(String(response.headers['ratelimit']))?.slice(1),
      )
    }
    expect(remaining).toEqual([
      ['4', '1'],
      ['3', '0'],
    ])
    const rejected = await send(companies, small[0])
    const problem = problemIn(rejected, 429)
    expect(problem.code).toBe('key_rate_exceeded')
    expect(problem.detail).toMatch(
      /^This API key has exceeded its limit of 2 requests per minute\. Retry in \d+ s\.$/,
    )
    const seconds = Number(rejected.headers['retry-after'])
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(rejected.headers['ratelimit']).toMatch(new RegExp(`"key";r=0;t=${seconds}$`))
  })

  test('[E2-429][8-6] other keys can send up to the account limit; a 4xx counts, a 429 does not', async () => {
    expect((await send(`${companies}?limit=0`, small[1])).status).toBe(400)
    expect((await send(companies, small[1])).status).toBe(200)
    expect(problemIn(await send(companies, small[1]), 429).code).toBe('key_rate_exceeded')
    expect((await send(companies, small[2])).status).toBe(200)
    const rejected = await send(companies, small[2])
    expect(problemIn(rejected, 429).code).toBe('account_rate_exceeded')
    expect(rejected.headers['ratelimit']).toMatch(/^"account";r=0;t=\d+, "key";r=1;t=\d+$/)
  })

  test('[8-6] a changed limit takes effect with the next request', async () => {
    const [options] = await limited('changing', 1, '--requests', '1')
    expect((await send(companies, options)).status).toBe(200)
    expect((await send(companies, options)).status).toBe(429)
    await quartermaster(environment, 'account', 'limit', 'changing', '--requests', 'default')
    expect((await send(companies, options)).status).toBe(200)
  })
})
