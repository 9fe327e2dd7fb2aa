import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../verification/src/check.ts'
import { Client } from '../../verification/src/client.ts'
import type { Side } from './intervals.ts'
import { percentile } from './numbers.ts'
import type { Fixture } from './ratios/fixture.ts'
import { headersOf } from './ratios/same-work.ts'
import { productPath } from './ratios/workloads.ts'
import type { Server } from './server.ts'

export const idleName = 'idle_p99'
export const idleBoundMax = 1.05
export const idleTurnSeconds = 0.5

/** Long enough that the process and PostgreSQL sleep between two requests. */
const pauseMs = 3
const accountsRead = 100
const warmUpRequests = 2_000

/** One client with one connection that requests cached lists one at a time, with pauses: nothing is batched or queued. */
export async function idleSide(
  context: Context,
  { small }: Fixture,
  { name, server }: { readonly name: string; readonly server: Server },
): Promise<Side> {
  const client = new Client(1)
  context.atEnd(async () => client.close())
  let sent = 0
  const requestMs = async () => {
    const account = small[sent++ % Math.min(accountsRead, small.length)]
    if (account === undefined) throw new Error('no small accounts')
    const started = performance.now()
    const { status } = await client.send({
      port: server.port,
      path: productPath,
      headers: headersOf(account),
    })
    if (status !== 200) throw new Error(`status ${status}`)
    return performance.now() - started
  }
  for (let i = 0; i < warmUpRequests; i++) await requestMs()
  return {
    name,
    cpuSeconds: () => server.cpuSeconds(),
    load: async (seconds) => {
      const times: number[] = []
      const started = performance.now()
      const until = started + seconds * 1000
      while (performance.now() < until) {
        times.push(await requestMs())
        await sleep(pauseMs)
      }
      return {
        requests: times.length,
        seconds: (performance.now() - started) / 1000,
        p50Ms: percentile(times, 50),
        p99Ms: percentile(times, 99),
        timesMs: times,
      }
    },
  }
}
