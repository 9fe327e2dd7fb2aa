import { describe, expect, it } from 'vitest'
import { limits } from '../limits.ts'
import type { Answered } from './answered.ts'
import { insertRequestsStatement, RequestLog } from './request-log.ts'

function answered(form: string, accountId = '1'): Answered {
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
      checkMs: undefined,
      storeAt: undefined,
      storeMs: undefined,
    },
    traceparent: undefined,
  }
}

/** The filters of a statement, as they are stored. */
function filtersIn(log: RequestLog): unknown {
  const { text, values } = insertRequestsStatement(log.take())
  const number = /\$(\d+)::text\[\], \$\d+::int\[\]/.exec(text)?.[1]
  return values[Number(number) - 1]
}

describe('RequestLog', () => {
  it('takes fewer long requests at a time than short ones, and all in the end', () => {
    const log = new RequestLog()
    const long = `filter=name=${'x'.repeat(limits.queryBodyBytesMax - 20)}`
    let offered = 0
    while (log.offer(0, answered(long, String(offered)))) offered++
    expect(offered).toBeGreaterThan(20)
    const sizes: number[] = []
    while (!log.isEmpty) sizes.push(log.take().length)
    expect(Math.max(...sizes) * limits.requestLogReadCharacters).toBeLessThan(
      limits.activityWriteCharacters * 1.1,
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(offered)

    for (let n = 0; n < 250; n++) log.offer(0, answered('limit=1', String(n)))
    expect([log.take().length, log.take().length]).toEqual([200, 50])
  })

  it('stores the beginning of a long filter, whatever its characters are', () => {
    for (const character of ['x', 'é', '€', '😀']) {
      for (const before of ['', 'a', 'aa', '%41']) {
        const log = new RequestLog()
        log.offer(0, answered(`filter=${before}${encodeURIComponent(character).repeat(20_000)}`))
        const [filter] = [filtersIn(log)].flat()
        expect(filter).toBe(
          `${decodeURIComponent(before)}${character.repeat(2_000)}`.slice(0, 2_000).toWellFormed(),
        )
      }
    }
  })
})
