import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { median, percentile, short } from '../numbers.ts'
import { type Fixture, half } from '../ratios/fixture.ts'
import { get } from '../ratios/same-work.ts'
import { changeNames, changesFixture } from './fixture.ts'

const ratioMax = 3
const writesPerSecond = 20
const path = `/api/v1/inventory/product?limit=10&filter=${encodeURIComponent(half.filter)}`

/** The median time of a list with a broad filter, by one client, while the account is written 20 times a second, and while it is not. */
export const listWhileWritten: Check = {
  name: 'list_while_written',
  bound: `≤ ${ratioMax}`,
  async run(context) {
    const fixture = await changesFixture(context)
    const client = new Client(1)
    try {
      const lists = context.size(300, 40)
      await times(client, fixture, 3)
      const unwritten: number[] = []
      const written: number[] = []
      // Alternately, because the machine's speed changes.
      for (let round = 0; round < 4; round++) {
        unwritten.push(...(await times(client, fixture, lists)))
        written.push(...(await whileWriting(context, fixture, () => times(client, fixture, lists))))
      }
      const [quiet, busy] = [median(unwritten), median(written)]
      return {
        value: `${(busy / quiet).toFixed(2)} (${short(busy)} ÷ ${short(quiet)} ms)`,
        samples: Math.min(unwritten.length, written.length),
        ok: busy / quiet <= ratioMax,
        note: `99th percentiles: ${short(percentile(written, 99))} and ${short(percentile(unwritten, 99))} ms`,
      }
    } finally {
      client.close()
    }
  },
}

async function times(client: Client, fixture: Fixture, count: number): Promise<number[]> {
  const all: number[] = []
  while (all.length < count) {
    const started = performance.now()
    await get(client, fixture, fixture.large, path)
    all.push(performance.now() - started)
  }
  return all
}

async function whileWriting<T>(context: Context, fixture: Fixture, work: () => Promise<T>): Promise<T> {
  const done = new AbortController()
  const records = context.size(1_000_000, 100_000)
  const writing = withClient(fixture.url, async (client) => {
    while (!done.signal.aborted) {
      const next = performance.now() + 1000 / writesPerSecond
      await changeNames(client, fixture, records, 1)
      await sleep(Math.max(0, next - performance.now()))
    }
  })
  try {
    return await work()
  } finally {
    done.abort()
    await writing
  }
}
