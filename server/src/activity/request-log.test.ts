import { describe, expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import type { AuthenticatedRequest } from '../observability/events.ts'
import { insertRequests, RequestLog } from './request-log.ts'

function completed(form: string, accountId = '1'): AuthenticatedRequest {
  return {
    kind: 'request-completed',
    requestId: 'r',
    method: 'QUERY',
    route: '/api/v1/inventory/product',
    status: 200,
    ms: 1,
    source: 'read',
    access: { accountId, keyId: 'abcdefgh' },
    url: '/api/v1/inventory/product',
    bytes: 1,
    context: {
      code: undefined,
      detail: undefined,
      records: 0,
      source: 'read',
      form,
      verificationStartedAt: undefined,
      verificationMs: undefined,
      databaseStartedAt: undefined,
      databaseMs: undefined,
      waitedMs: 0,
    },
    traceparent: undefined,
  }
}

/** The values of the filter column in the insert statement. */
function filtersIn(log: RequestLog): unknown {
  const { text, values } = insertRequests(log.take())
  const number = /\$(\d+)::text\[\], \$\d+::int\[\]/.exec(text)?.[1]
  return values[Number(number) - 1]
}

describe('RequestLog', () => {
  it('writes fewer long requests than short ones in one statement, and all in the end', () => {
    const log = new RequestLog()
    const long = `filter=name=${'x'.repeat(limits.queryBodyBytesMax - 20)}`
    let offered = 0
    while (log.offer(0, completed(long, String(offered)))) offered++
    expect(offered).toBeGreaterThan(20)
    const sizes: number[] = []
    while (!log.isEmpty) sizes.push(log.take().length)
    expect(Math.max(...sizes) * limits.requestLogReadCharacters).toBeLessThan(
      limits.activityWriteCharacters * 1.1,
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(offered)

    for (let n = 0; n < 250; n++) log.offer(0, completed('limit=1', String(n)))
    expect([log.take().length, log.take().length]).toEqual([200, 50])
  })

  it('truncates a long filter to 2,000 characters, however its characters are encoded', () => {
    for (const character of ['x', 'é', '€', '😀']) {
      for (const before of ['', 'a', 'aa', '%41']) {
        const log = new RequestLog()
        log.offer(0, completed(`filter=${before}${encodeURIComponent(character).repeat(20_000)}`))
        const [filter] = [filtersIn(log)].flat()
        expect(filter).toBe(
          `${decodeURIComponent(before)}${character.repeat(2_000)}`.slice(0, 2_000).toWellFormed(),
        )
      }
    }
  })
})
