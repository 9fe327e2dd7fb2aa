import { describe, expect, it } from 'vitest'
import { limitAccount } from '../src/accounts/account-changes.ts'
import { operator } from '../src/cli/operator.ts'
import { limits } from '../src/limits/limits.ts'
import { stopAtEnd } from './at-end.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { TemporaryRedis } from './redis.ts'
import { startTestService, type TestService } from './service.ts'

/** Rate limits that processes share through Redis, and without it. */

const path = '/api/v1/resources/company'

const url = await freshDatabase()
const client = await connected(url)
const redis = stopAtEnd(await TemporaryRedis.start())
const services = await Promise.all([1, 2].map(() => startTestService(url, { REDIS_URL: redis.url })))
const eventKinds = ({ events }: TestService) => events.map(({ kind }) => kind)
await eventually(() => services.every((service) => eventKinds(service).includes('rate-limits-shared')))

async function limited(name: string, requestsPerMinute: number): Promise<TestAccount> {
  const created = await account(client, name)
  await limitAccount(client, operator(), name, { requestsPerMinute })
  return created
}

/** Sends `rounds` requests to each process, alternating, and counts the 200s of each; the others must be 429. */
async function accepted(from: TestAccount, rounds: number): Promise<number[]> {
  const counts = services.map(() => 0)
  for (let round = 0; round < rounds; round++) {
    for (const [i, service] of services.entries()) {
      const { status } = await service.request(from, 'GET', path)
      expect([200, 429]).toContain(status)
      if (status === 200) counts[i] = (counts[i] ?? 0) + 1
    }
  }
  return counts
}

describe('with Redis', () => {
  it('two processes together accept the limit of the account', async () => {
    const together = await accepted(await limited('together', 100), 100)
    const all = together.reduce((sum, count) => sum + count)
    expect(all).toBeGreaterThanOrEqual(100)
    expect(all).toBeLessThanOrEqual(105)
    expect(Math.min(...together)).toBeGreaterThan(40)
  })

  it('a changed limit applies from the next request on', async () => {
    const changed = await limited('changed', 2)
    expect((await services[0]?.request(changed, 'GET', path))?.status).toBe(200)
    expect((await services[0]?.request(changed, 'GET', path))?.status).toBe(200)
    expect((await services[0]?.request(changed, 'GET', path))?.body).toMatchObject({
      code: 'account_rate_exceeded',
      detail: expect.stringMatching(
        /^This account has exceeded its limit of 2 requests per minute\. Retry in \d+ s\.$/,
      ),
    })
    await limitAccount(client, operator(), 'changed', { requestsPerMinute: 3, keyRequestsPerMinute: 1 })
    expect((await services[0]?.request(changed, 'GET', path))?.body).toMatchObject({
      code: 'key_rate_exceeded',
    })
    await limitAccount(client, operator(), 'changed', { requestsPerMinute: null, keyRequestsPerMinute: null })
    expect((await services[0]?.request(changed, 'GET', path))?.status).toBe(200)
  })
})

describe('without Redis', () => {
  it('without Redis each process counts separately, without errors; counts are shared again when Redis is back', async () => {
    await redis.kill()
    const before = await limited('alone', 20)
    expect(await accepted(before, 30)).toEqual([20, 20])
    await eventually(() => services.every((service) => eventKinds(service).at(-1) !== 'rate-limits-shared'))

    await redis.start()
    const isBack = (service: TestService) =>
      eventKinds(service).filter((kind) => kind === 'rate-limits-shared').length > 1
    await eventually(() => services.every(isBack))
    const again = await accepted(await limited('again', 100), 100)
    expect(again.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(105)
  })

  it('no request waits for a Redis that does not respond', async () => {
    const silent = await limited('silent', 1000)
    expect((await services[0]?.request(silent, 'GET', path))?.status).toBe(200)
    redis.pause()
    try {
      let fastestMs = Number.POSITIVE_INFINITY
      for (let n = 0; n < 50; n++) {
        const started = performance.now()
        expect((await services[0]?.request(silent, 'GET', path))?.status).toBe(200)
        fastestMs = Math.min(fastestMs, performance.now() - started)
      }
      // If every request waited for Redis, none would be faster than its timeout.
      expect(fastestMs).toBeLessThan(limits.redisMsMax)
    } finally {
      redis.resume()
    }
  })
})
