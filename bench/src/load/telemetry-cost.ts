import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Check } from '../../../verification/src/check.ts'
import { startCollector } from '../../../verification/src/trust/collector.ts'
import { median, short } from '../numbers.ts'
import { mainFixture } from '../ratios/rates.ts'
import { Server } from '../server.ts'
import { Wrk } from '../wrk.ts'

const percentMax = 10
/** In short runs on a busy machine, the CPU time of two equal servers differs by up to a half. */
const quickPercentMax = 60
const clients = 32
const scrapeMs = 5_000
/** Enough requests for V8 to compile all hot functions. */
const warmRequests = { full: 80_000, quick: 10_000 }

/**
 * Sends the same requests for cached lists alternately to two servers on one database. One logs every request, has its metrics
 * scraped every 5 s and exports traces; the other has none of these.
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
      QUARTERMASTER_LOG_LEVEL: 'info',
      QUARTERMASTER_ADMIN_PORT: String(adminPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    })
    const off = await Server.start(url, folder, false, { QUARTERMASTER_LOG_LEVEL: 'silent' })
    const scraping = setInterval(() => void scrape(adminPort), scrapeMs)
    try {
      const [enabled, disabled] = [new Side(on, files.small), new Side(off, files.small)]
      await enabled.wrk.verify('200', { requestsMin: warm })
      await disabled.wrk.verify('200', { requestsMin: warm })
      for (let i = 0; i < context.size(32, 6); i++) {
        // Each runs first as often as second, so that other work of the machine affects both.
        for (const side of i % 2 === 0 ? [enabled, disabled] : [disabled, enabled]) {
          await side.run(context.size(3, 1))
        }
      }
      return outcome(enabled, disabled, collector.batches(), context.size(percentMax, quickPercentMax))
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
 * Compares CPU time per request, which limits the rate of a process and depends less than the rate on other work of the
 * machine. Uses the medians of short alternating runs; the note also has the rates.
 */
function outcome(enabled: Side, disabled: Side, batches: number, percentLimit: number) {
  const [on, off] = [median(enabled.microseconds), median(disabled.microseconds)]
  const percent = (1 - off / on) * 100
  const shown = ({ microseconds, rates }: Side) =>
    `${microseconds.map((one) => one.toFixed(0)).join(' ')} µs, ${short(median(rates))} requests/s`
  return {
    value: `${percent.toFixed(1)} % (${on.toFixed(1)} against ${off.toFixed(1)} µs)`,
    samples: Math.min(batches, enabled.rates.length, disabled.rates.length),
    ok: percent <= percentLimit && batches > 0,
    note: `with: ${shown(enabled)}\nwithout: ${shown(disabled)}\nbatches of spans collected: ${batches}`,
  }
}

async function scrape(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  await response.arrayBuffer()
}
