import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type Ask, companies, create, keyOf, partners, problemIn, products, send } from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

const own = inject('place').own
const environment = { DATABASE_URL: own?.databaseUrl ?? '' }
const policyForm = /^"account";q=\d+;w=60, "key";q=\d+;w=60$/
const stateForm = /^"account";r=\d+;t=\d+, "key";r=\d+;t=\d+$/

/** An account of its own, with a limit and with keys. */
async function limited(name: string, keys: number, ...limit: readonly string[]): Promise<Ask[]> {
  await quartermaster(environment, 'account', 'create', name)
  await quartermaster(environment, 'account', 'limit', name, ...limit)
  const asks: Ask[] = []
  for (let n = 0; n < keys; n++) {
    asks.push({ host: name, key: (await issueKey(environment, name, `key ${n}`)).key })
  }
  return asks
}

describe('E3: the headers RateLimit and RateLimit-Policy', () => {
  test('[E3-ratelimit] are on every answer to a request with a valid key, whatever its status', async () => {
    const first = await send(products)
    const answers = [
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
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 200, 201, 400, 403, 404, 404, 405, 414])
    for (const { headers } of answers) {
      expect(headers['ratelimit-policy']).toMatch(policyForm)
      expect(headers['ratelimit']).toMatch(stateForm)
    }
  })

  test('[E3-ratelimit] a 401 has none: it is nobody whose limits could be told; nor has what needs no key', async () => {
    for (const answer of [await send(products, { key: null }), await send('/livez')]) {
      expect(answer.headers).not.toHaveProperty('ratelimit')
      expect(answer.headers).not.toHaveProperty('ratelimit-policy')
    }
  })
})

describe.skipIf(own === undefined)('E2: rate limits', () => {
  let small: Ask[]
  beforeAll(async () => {
    small = await limited('small', 3, '--requests', '5', '--key-requests', '2')
  })

  test('[E2-429][8-6] beyond what a key may send in a minute: 429 that says so, with Retry-After', async () => {
    const left = []
    for (let n = 0; n < 2; n++) {
      const answer = await send(companies, small[0])
      expect(answer.status).toBe(200)
      expect(answer.headers['ratelimit-policy']).toBe('"account";q=5;w=60, "key";q=2;w=60')
      left.push(
        /^"account";r=(\d+);t=\d+, "key";r=(\d+);/.exec(String(answer.headers['ratelimit']))?.slice(1),
      )
    }
    expect(left).toEqual([
      ['4', '1'],
      ['3', '0'],
    ])
    const refused = await send(companies, small[0])
    const problem = problemIn(refused, 429)
    expect(problem.code).toBe('key_rate_exceeded')
    expect(problem.detail).toMatch(/^This API key may send 2 requests a minute, and has\. .* in \d+ s\.$/)
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(refused.headers['ratelimit']).toMatch(new RegExp(`"key";r=0;t=${seconds}$`))
  })

  test('[E2-429][8-6] another key goes on, up to what the account may send; a 4xx counts, a 429 does not', async () => {
    expect((await send(`${companies}?limit=0`, small[1])).status).toBe(400)
    expect((await send(companies, small[1])).status).toBe(200)
    expect(problemIn(await send(companies, small[1]), 429).code).toBe('key_rate_exceeded')
    expect((await send(companies, small[2])).status).toBe(200)
    const refused = await send(companies, small[2])
    expect(problemIn(refused, 429).code).toBe('account_rate_exceeded')
    expect(refused.headers['ratelimit']).toMatch(/^"account";r=0;t=\d+, "key";r=1;t=\d+$/)
  })

  test('[8-6] the operator changes a limit, and it holds from the next request on', async () => {
    const [ask] = await limited('changing', 1, '--requests', '1')
    expect((await send(companies, ask)).status).toBe(200)
    expect((await send(companies, ask)).status).toBe(429)
    await quartermaster(environment, 'account', 'limit', 'changing', '--requests', 'default')
    expect((await send(companies, ask)).status).toBe(200)
  })
})
