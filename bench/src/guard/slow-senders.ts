import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../../verification/src/check.ts'
import { type Caller, ms, products } from '../load/fixture.ts'
import { guardFixture, withServer } from './fixture.ts'

const acceptedMsMax = 2_000
const batchesPerAccount = 2
const path = `${products}/batch`

/** 8 accounts occupy all slots with batches of which they send a byte now and then. Another account's batch must still be accepted. */
export const slowSenders: readonly Check[] = [1, 2].map((processes) => ({
  name: `guard_slow_senders${processes === 1 ? '' : `_${processes}`}`,
  bound: `accepted ≤ ${acceptedMsMax / 1000} s`,
  async run(context) {
    const fixture = await guardFixture(context)
    return await withServer(fixture, processes, async ({ port }) => {
      const senders = fixture.slow.flatMap((caller) =>
        Array.from({ length: batchesPerAccount * processes }, () => new SlowSender(port, caller)),
      )
      await sleep(context.size(3_000, 1_000))
      const drip = setInterval(() => {
        for (const sender of senders) sender.write()
      }, 1_000)
      try {
        const tries: { ms: number; status: number }[] = []
        for (let n = 0; n < context.size(10, 4); n++) tries.push(await send(port, fixture.victim))
        const longest = Math.max(...tries.map((one) => one.ms))
        const rejected = tries.filter(({ status }) => status !== 200)
        return {
          value: `${ms(longest)}, ${rejected.length} of ${tries.length} rejected`,
          samples: tries.length,
          ok: rejected.length === 0 && longest <= acceptedMsMax,
          note: `statuses ${tries.map(({ status }) => status).join(' ')}`,
        }
      } finally {
        clearInterval(drip)
        for (const sender of senders) sender.end()
      }
    })
  },
}))

function start(port: number, { host, key }: Caller) {
  const headers = { host, authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  return request({ host: '127.0.0.1', port, method: 'POST', path, headers })
}

/** A batch that sends a space a second. Starts again when the service ends it. */
class SlowSender {
  readonly #open: () => ReturnType<typeof start>
  #sending: ReturnType<typeof start>
  #isEnded = false

  constructor(port: number, caller: Caller) {
    this.#open = () => {
      const sending = start(port, caller)
      sending.on('error', () => {})
      sending.once('response', (response) => {
        response.resume()
        response.on('error', () => {})
      })
      sending.once('close', () => {
        if (!this.#isEnded) setTimeout(() => (this.#sending = this.#open()), 50)
      })
      sending.write(' ')
      return sending
    }
    this.#sending = this.#open()
  }

  write(): void {
    this.#sending.write(' ')
  }

  end(): void {
    this.#isEnded = true
    this.#sending.destroy()
  }
}

async function send(port: number, caller: Caller): Promise<{ ms: number; status: number }> {
  const started = performance.now()
  return await new Promise((resolve) => {
    const sending = start(port, caller)
    sending.once('error', () => resolve({ ms: performance.now() - started, status: 0 }))
    sending.once('response', (response) => {
      response.resume()
      response.once('close', () =>
        resolve({ ms: performance.now() - started, status: response.statusCode ?? 0 }),
      )
    })
    sending.end('{"id":1,"name":"accepted"}\n')
  })
}
