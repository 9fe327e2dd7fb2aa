import type { Check } from '../../../verification/src/check.ts'
import { loadFixture, products, withServers } from './fixture.ts'
import { otherStatuses, runLoad, withStatus } from './load.ts'

const processes = 4

/** An account sends three times its rate limit to four processes: the number of accepted requests must be close to the limit. */
export const limitsShared: Check = {
  name: 'limits_shared',
  bound: 'within 5 %',
  async run(context) {
    const fixture = await loadFixture(context)
    const limit = context.size(6_000, 1_500)
    const key = await fixture.service.account('limited')
    await fixture.service.command(['account', 'limit', 'limited', '--requests', String(limit)])
    return await withServers(fixture, processes, { REDIS_URL: fixture.redis.url }, async (servers) => {
      const seconds = context.size(30, 8)
      const result = await runLoad({
        ports: servers.map(({ port }) => port),
        rate: (limit * 3) / seconds,
        seconds,
        connectionsMax: 256,
        requests: [{ host: 'limited.localhost', key, path: products }],
      })
      const accepted = withStatus(result, 200).count
      const off = ((accepted - limit) / limit) * 100
      const unexpected = otherStatuses(result, 200, 429)
      return {
        value: `${off >= 0 ? '+' : ''}${off.toFixed(2)} % of ${limit}, ${processes} processes`,
        samples: Math.min(accepted, withStatus(result, 429).count),
        ok: Math.abs(off) <= 5 && unexpected === '',
        note: `${accepted} of ${result.sent} accepted within a minute${unexpected === '' ? '' : `; ${unexpected}`}`,
      }
    })
  },
}
