import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../../verification/src/check.ts'
import { Client, headersFor } from '../../../verification/src/client.ts'
import type { Service } from '../../../verification/src/service.ts'
import { loadFixture, ms, products, withServers } from './fixture.ts'
import { type Load, otherStatuses, runLoad, withStatus } from './load.ts'

const backMsMax = 5_000

/** Redis is killed and restarted, and later paused, under load. */
export const redisKilled: Check = {
  name: 'redis_killed',
  bound: '0 5xx, p99 + ≤ 5 ms, ≤ 5 s (quick: 250 ms)',
  async run(context) {
    const fixture = await loadFixture(context)
    const { redis, service } = fixture
    return await withServers(fixture, 2, { REDIS_URL: redis.url }, async (servers) => {
      const ports = servers.map(({ port }) => port)
      const load: Load = {
        ports,
        rate: context.size(500, 200),
        seconds: context.size(20, 5),
        connectionsMax: 128,
        requests: fixture.small.map((caller) => ({ ...caller, path: `${products}?limit=20` })),
      }
      await runLoad({ ...load, seconds: 3 })
      const before = await runLoad(load)
      const killed = runLoad(load)
      await sleep(load.seconds * 200)
      await redis.kill()
      const without = await killed
      await redis.start()
      const back = await timeUntilShared(service, ports)
      const paused = runLoad(load)
      await sleep(load.seconds * 200)
      redis.pause()
      const duringPause = await paused
      redis.resume()
      const [withRedis, killedP99, pausedP99] = [before, without, duringPause].map(
        (result) => withStatus(result, 200).p99Ms,
      )
      const extra = Math.max(killedP99 ?? 0, pausedP99 ?? 0) - (withRedis ?? 0)
      const unexpected = [before, without, duringPause].map((result) => otherStatuses(result, 200)).join('')
      return {
        value: `${unexpected === '' ? '0 5xx' : unexpected}, p99 ${extra >= 0 ? '+' : ''}${extra.toFixed(1)} ms, ${(back / 1000).toFixed(1)} s`,
        samples: Math.min(...[before, without, duringPause].map((result) => withStatus(result, 200).count)),
        ok: unexpected === '' && extra <= context.size(5, 250) && back <= backMsMax,
        note: `p99 with Redis ${ms(withRedis ?? 0)}, killed ${ms(killedP99 ?? 0)}, paused ${ms(pausedP99 ?? 0)}; shared again after ${back} ms`,
      }
    })
  },
}

/** Milliseconds until both processes share their counters again. Each attempt uses a new account with a limit of 20 requests. */
async function timeUntilShared(service: Service, ports: readonly number[]): Promise<number> {
  const limit = 20
  const accounts: { name: string; key: string }[] = []
  for (let n = 0; n < 5; n++) {
    const name = `shared-${n}`
    accounts.push({ name, key: await service.account(name) })
    await service.command(['account', 'limit', name, '--requests', String(limit)])
  }
  const began = performance.now()
  const client = new Client()
  try {
    for (const { name, key } of accounts) {
      const send = (port: number | undefined) =>
        client.send({
          port: port ?? 0,
          path: products,
          headers: headersFor(name, key),
        })
      for (let n = 0; n < limit; n++) await send(ports[0])
      await sleep(50)
      await send(ports[1])
      await sleep(50)
      if ((await send(ports[1])).status === 429) return Math.round(performance.now() - began)
      await sleep(1000)
    }
  } finally {
    client.close()
  }
  return Number.POSITIVE_INFINITY
}
