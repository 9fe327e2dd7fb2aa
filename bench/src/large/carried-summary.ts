import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../../../verification/src/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { median, percentile, short } from '../numbers.ts'
import { type Fixture, smallRecords } from '../ratios/fixture.ts'
import { headersOf } from '../ratios/same-work.ts'
import { productPath } from '../ratios/workloads.ts'
import { bar } from '../side-by-side.ts'
import { largeFixture } from './fixture.ts'

const ratioMax = 1 / 50
const writesPerSecond = 20
const path = `${productPath}/summary?group=categ_id&sum=qty_available&avg=list_price`

/** A summary of all products for the first time, and then again and again while quantities change 20 times a second. */
export const carriedSummary: Benchmark = {
  name: 'summary_carried',
  bound: `≤ 1/${1 / ratioMax} of the first`,
  async run(context) {
    const { fixture } = await largeFixture(context)
    const client = new Client(2)
    // Without a write by the service nothing can be carried.
    await writeOne(client, fixture, 0)
    const first = await answered(client, fixture)
    const again: number[] = []
    const versions = new Set<string>()
    const ended = new AbortController()
    const writing = (async () => {
      for (let n = 1; !ended.signal.aborted; n++) {
        const next = performance.now() + 1000 / writesPerSecond
        await writeOne(client, fixture, n)
        await sleep(Math.max(0, next - performance.now()))
      }
    })()
    try {
      const count = context.size(200, 60)
      while (again.length < count) {
        await sleep(1000 / writesPerSecond)
        const { status, ms, etag } = await send(client, fixture)
        if (status !== 200) throw new Error(`${status}`)
        again.push(ms)
        versions.add(etag)
      }
    } finally {
      ended.abort()
      await writing
      client.close()
    }
    const ratio = median(again) / first.ms
    return {
      value: `1/${Math.round(1 / ratio)} (${short(median(again))} ÷ ${short(first.ms)} ms)`,
      samples: again.length,
      ok: ratio <= ratioMax && versions.size > again.length / 2,
      note: `${first.requests} requests until the first answer; p99 again ${short(percentile(again, 99))} ms, at ${versions.size} versions`,
      series: [
        {
          label: 'carried summary',
          unit: 'ms',
          service: bar('again', again),
          other: bar('first', [first.ms]),
          limit: ratioMax * first.ms,
        },
      ],
    }
  },
}

/** The time until there is an answer: a summary that exceeds its time goes on in the background. */
async function answered(client: Client, fixture: Fixture): Promise<{ ms: number; requests: number }> {
  const started = performance.now()
  for (let requests = 1; ; requests++) {
    const { status, text } = await send(client, fixture)
    const ms = performance.now() - started
    if (status === 200) return { ms, requests }
    if (status !== 504 || ms > 180_000) throw new Error(`${status} ${text.slice(0, 300)}`)
    await sleep(1_000)
  }
}

async function send(client: Client, { server, large }: Fixture) {
  const started = performance.now()
  const { status, text, headers } = await client.send({ port: server.port, path, headers: headersOf(large) })
  return { status, text, ms: performance.now() - started, etag: String(headers['etag']) }
}

/** Changes the quantity of a record, to a value that it did not have. */
async function writeOne(client: Client, { server, large }: Fixture, n: number): Promise<void> {
  const { status, text } = await client.send({
    port: server.port,
    method: 'PATCH',
    path: `${productPath}/${1 + ((n * 7919) % smallRecords)}`,
    headers: [...headersOf(large), 'Content-Type', 'application/merge-patch+json'],
    body: JSON.stringify({ qty_available: 10_000 + n }),
  })
  if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
}
