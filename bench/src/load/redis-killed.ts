import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import type { Service } from '../../../verification/src/service.ts'
import { ms, products, standOf, withServers } from './fixture.ts'
import { answered, type Load, others, runLoad } from './load.ts'

const backMsMax = 5_000

/** Redis is killed, and later silent, under load; then it is back. */
export const redisKilled: Check = {
  name: 'redis_killed',
  bound: '0 5xx, p99 + ≤ 5 ms, ≤ 5 s (quick: 250 ms)',
  async run(context) {
    const fixture = await standOf(context)
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
      const silent = await paused
      redis.resume()
      const [alone, dead, mute] = [before, without, silent].map((result) => answered(result, 200).p99Ms)
      const extra = Math.max(dead ?? 0, mute ?? 0) - (alone ?? 0)
      const strange = [before, without, silent].map((result) => others(result, 200)).join('')
      return {
        value: `${strange === '' ? '0 5xx' : strange}, p99 ${extra >= 0 ? '+' : ''}${extra.toFixed(1)} ms, ${(back / 1000).toFixed(1)} s`,
        ok: strange === '' && extra <= context.size(5, 250) && back <= backMsMax,
        note: `p99 with Redis ${ms(alone ?? 0)}, killed ${ms(dead ?? 0)}, silent ${ms(mute ?? 0)}; shared again after ${back} ms`,
      }
    })
  },
}

/** Milliseconds until what one process let through is known to the other: a fresh account with a limit of 20, each try. */
async function timeUntilShared(service: Service, ports: readonly number[]): Promise<number> {
  const most = 20
  const accounts: { name: string; key: string }[] = []
  for (let n = 0; n < 5; n++) {
    const name = `shared-${n}`
    accounts.push({ name, key: await service.account(name) })
    await service.command(['account', 'limit', name, '--requests', String(most)])
  }
  const began = performance.now()
  const client = new Client()
  try {
    for (const { name, key } of accounts) {
      const ask = (port: number | undefined) =>
        client.ask({
          port: port ?? 0,
          path: products,
          headers: ['Host', `${name}.localhost`, 'Authorization', `Bearer ${key}`],
        })
      for (let n = 0; n < most; n++) await ask(ports[0])
      await sleep(50)
      await ask(ports[1])
      await sleep(50)
      if ((await ask(ports[1])).status === 429) return Math.round(performance.now() - began)
      await sleep(1000)
    }
  } finally {
    client.close()
  }
  return Number.POSITIVE_INFINITY
}
