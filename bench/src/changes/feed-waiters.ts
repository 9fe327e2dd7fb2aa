import { Agent, type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultLimits } from '../../../server/src/limits/passed-limits.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { median, percentile, short } from '../numbers.ts'
import { type Account, type Fixture, sharedFixture, smallRecords } from '../ratios/fixture.ts'
import { get, headersOf } from '../ratios/same-work.ts'

const shareMax = 0.1
const ratioMax = 1.2
const path = '/api/v1/inventory/product'
const waiters = defaultLimits.feedWaitersMax
const accounts = 200
const rounds = 6

const fixture = sharedFixture('waiters', () => ({ records: 10_000, accounts }))

/**
 * What as many waiting readers of the change feed as a process serves cost: CPU time of the process while nothing happens, and
 * the 99th percentile of lists, with the readers and without them alternately.
 */
export const feedWaiters: Check = {
  name: 'feed_waiters',
  bound: `≤ ${shareMax * 100} % of a core, p99 ≤ ${ratioMax} ×`,
  async run(context) {
    const used = await fixture(context)
    const client = new Client(4)
    const shares: number[] = []
    const ratios: number[] = []
    try {
      await listTimes(context, client, used)
      for (let round = 0; round < context.size(rounds, 2); round++) {
        const alone = await listTimes(context, client, used)
        const readers = await Readers.open(used)
        try {
          shares.push(await idleShare(used, context.size(10, 3)))
          const beside = await listTimes(context, client, used)
          ratios.push(percentile(beside, 99) / percentile(alone, 99))
          context.log(
            `${waiters} readers: ${short((shares.at(-1) ?? 0) * 100)} % of a core; lists p50 ${short(median(alone))} → ` +
              `${short(median(beside))} ms, p99 ${short(percentile(alone, 99))} → ${short(percentile(beside, 99))} ms`,
          )
          if (readers.ended > 0) throw new Error(`${readers.ended} readers did not wait`)
        } finally {
          await readers.close()
        }
      }
    } finally {
      client.close()
    }
    const [share, ratio] = [median(shares), median(ratios)]
    return {
      value: `${short(share * 100)} %, ${ratio.toFixed(2)} ×`,
      samples: ratios.length,
      ok: share <= shareMax && ratio <= ratioMax,
    }
  },
}

/** CPU time of the process per second. */
async function idleShare({ server }: Fixture, seconds: number): Promise<number> {
  // What opening the connections has caused ends first.
  await sleep(2_000)
  const before = server.cpuSeconds()
  await sleep(seconds * 1000)
  return (server.cpuSeconds() - before) / seconds
}

/** Four clients request pages of small accounts. */
async function listTimes(context: Context, client: Client, used: Fixture): Promise<number[]> {
  const { small } = used
  const times: number[] = []
  const read = async (reader: number) => {
    for (let n = 0; n < context.size(2_000, 200); n++) {
      const account = small[(n * 4 + reader) % small.length]
      if (account === undefined) throw new Error('no account')
      const page = 1 + (n % Math.floor(smallRecords / 10))
      const started = performance.now()
      await get(client, used, account, `${path}?limit=10&page=${page}`)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: 4 }, (_, reader) => read(reader)))
  return times
}

/** Streams of changes, each on its own connection. */
class Readers {
  readonly #agent = new Agent({ keepAlive: false })
  readonly #requests: ClientRequest[] = []
  #isOpen = true
  ended = 0

  static async open({ server, small }: Fixture): Promise<Readers> {
    const readers = new Readers()
    for (let n = 0; n < waiters; n += 100)
      await Promise.all(
        Array.from({ length: Math.min(100, waiters - n) }, (_, i) => readers.#add(server.port, small, n + i)),
      )
    return readers
  }

  #add(port: number, small: readonly Account[], n: number): Promise<void> {
    const account = small[n % small.length]
    if (account === undefined) throw new Error('no account')
    return new Promise((resolve, reject) => {
      const opened = request({
        agent: this.#agent,
        host: '127.0.0.1',
        port,
        path: `${path}/changes?since=now`,
        headers: [...headersOf(account), 'Accept', 'text/event-stream'],
      })
      this.#requests.push(opened)
      opened.on('error', (error) => (this.#isOpen ? reject(error) : undefined))
      opened.on('response', (response) => {
        response.on('error', () => {})
        response.on('close', () => (this.ended += this.#isOpen ? 1 : 0))
        response.resume()
        if (response.statusCode === 200) resolve()
        else reject(new Error(`a reader got ${response.statusCode}`))
      })
      opened.end()
    })
  }

  async close(): Promise<void> {
    this.#isOpen = false
    for (const one of this.#requests) one.destroy()
    this.#agent.destroy()
    await sleep(1_000)
  }
}
