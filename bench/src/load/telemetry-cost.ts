import { freePort } from '../../../server/src/cli/database/throwaway-postgres.ts'
import type { Check } from '../../../verification/src/check.ts'
import { startCollector } from '../../../verification/src/trust/collector.ts'
import { median, short } from '../numbers.ts'
import { mainFixture } from '../ratios/rates.ts'
import { Server } from '../server.ts'
import { Wrk } from '../wrk.ts'

const percentMax = 10
/** In short runs beside other work, one server may be half as dear as its twin. */
const quickPercentMax = 60
const clients = 32
const scrapeMs = 5_000
/** Until the engine has compiled what it is going to compile. */
const warmRequests = { full: 80_000, quick: 10_000 }

/**
 * Two servers on one database in turn, asked for the same kept lists: one with a line for every request, metrics that
 * are scraped every five seconds and traces that are collected, one with nothing of that.
 */
export const telemetryCost: Check = {
  name: 'telemetry_cost',
  bound: `≤ ${percentMax} % (quick: ${quickPercentMax} %)`,
  async run(context) {
    const { url, folder, files, small } = await mainFixture(context)
    const warm = Math.max(small.length, context.size(warmRequests.full, warmRequests.quick))
    const collector = await startCollector()
    const adminPort = await freePort()
    const on = await Server.start(url, folder, false, {
      LOG_LEVEL: 'info',
      ADMIN_PORT: String(adminPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    })
    const off = await Server.start(url, folder, false, { LOG_LEVEL: 'silent' })
    const scraping = setInterval(() => void scrape(adminPort), scrapeMs)
    try {
      const [withIt, without] = [new Side(on, files.small), new Side(off, files.small)]
      await withIt.wrk.prove('200', warm)
      await without.wrk.prove('200', warm)
      for (let i = 0; i < context.size(32, 6); i++) {
        // Each first as often as second, so that what else the machine does meets both.
        for (const side of i % 2 === 0 ? [withIt, without] : [without, withIt]) {
          await side.run(context.size(3, 1))
        }
      }
      return outcome(withIt, without, collector.batches(), context.size(percentMax, quickPercentMax))
    } finally {
      clearInterval(scraping)
      await Promise.all([on.stop(), off.stop()])
      collector.stop()
    }
  },
}

class Side {
  readonly wrk: Wrk
  readonly rates: number[] = []
  readonly microseconds: number[] = []
  readonly #server: Server

  constructor(server: Server, accounts: string) {
    this.#server = server
    this.wrk = new Wrk(server.port, { shape: 'list', path: '/api/v1/inventory/product', accounts }, clients)
  }

  async run(seconds: number): Promise<void> {
    const before = this.#server.cpuSeconds()
    const result = await this.wrk.measure(seconds)
    this.rates.push(result.requests / result.seconds)
    this.microseconds.push(((this.#server.cpuSeconds() - before) / result.requests) * 1e6)
  }
}

/**
 * By processor time per request, which is what bounds the rate of a process and which other work on the machine moves
 * less than rates; those fixture beside it. The medians of many short runs in turn.
 */
function outcome(withIt: Side, without: Side, batches: number, most: number) {
  const [on, off] = [median(withIt.microseconds), median(without.microseconds)]
  const percent = (1 - off / on) * 100
  const shown = ({ microseconds, rates }: Side) =>
    `${microseconds.map((one) => one.toFixed(0)).join(' ')} µs, ${short(median(rates))} requests/s`
  return {
    value: `${percent.toFixed(1)} % (${on.toFixed(1)} against ${off.toFixed(1)} µs)`,
    ok: percent <= most && batches > 0,
    note: `with: ${shown(withIt)}\nwithout: ${shown(without)}\nbatches of spans collected: ${batches}`,
  }
}

async function scrape(port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  await answer.arrayBuffer()
}
