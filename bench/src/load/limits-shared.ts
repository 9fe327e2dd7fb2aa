import type { Check } from '../../../verification/src/check.ts'
import { products, standOf, withServers } from './fixture.ts'
import { answered, others, runLoad } from './load.ts'

const processes = 4

/** A limited account asks four processes for far more than it may: how many pass in the minute. */
export const limitsShared: Check = {
  name: 'limits_shared',
  bound: 'within 5 %',
  async run(context) {
    const fixture = await standOf(context)
    const most = context.size(6_000, 1_500)
    const key = await fixture.service.account('limited')
    await fixture.service.command(['account', 'limit', 'limited', '--requests', String(most)])
    return await withServers(fixture, processes, { REDIS_URL: fixture.redis.url }, async (servers) => {
      const seconds = context.size(30, 8)
      const result = await runLoad({
        ports: servers.map(({ port }) => port),
        rate: (most * 3) / seconds,
        seconds,
        connectionsMax: 256,
        requests: [{ host: 'limited.localhost', key, path: products }],
      })
      const passed = answered(result, 200).count
      const off = ((passed - most) / most) * 100
      const strange = others(result, 200, 429)
      return {
        value: `${off >= 0 ? '+' : ''}${off.toFixed(2)} % of ${most}, ${processes} processes`,
        ok: Math.abs(off) <= 5 && strange === '',
        note: `${passed} of ${result.sent} passed within a minute${strange === '' ? '' : `; ${strange}`}`,
      }
    })
  },
}
