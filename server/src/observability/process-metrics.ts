import { AsyncLocalStorage } from 'node:async_hooks'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { ObservableInstrument } from './instruments.ts'

/** The sampling interval of Node's event-loop delay histogram. */
const resolutionMs = 10

/** Set while values are collected for a scrape of Prometheus, and not set while they are collected to be sent over OTLP. */
export const scraping = new AsyncLocalStorage<true>()

/** What has happened since the last collection. */
class EventLoopWindow {
  readonly delay = monitorEventLoopDelay({ resolution: resolutionMs })
  utilization = performance.eventLoopUtilization()

  constructor() {
    this.delay.enable()
  }
}

/**
 * Resources of the process and the delay of its event loop. Each scrape covers the time since the scrape before, and each
 * transmission over OTLP the time since the one before.
 */
export class ProcessMetrics {
  #scraped: EventLoopWindow | undefined
  #sent: EventLoopWindow | undefined

  readonly instruments = [
    new ObservableInstrument({
      name: 'nodejs.eventloop.delay.p99',
      unit: 's',
      description: '99th percentile of the event loop delay since the last scrape.',
      observe: () => [[secondsOf(this.#window.delay.percentile(99))]],
    }),
    // Observed after the 99th percentile: it resets the histogram for the next scrape.
    new ObservableInstrument({
      name: 'nodejs.eventloop.delay.max',
      unit: 's',
      description: 'Its maximum since the last scrape.',
      observe: () => {
        const { delay } = this.#window
        const max = secondsOf(delay.max)
        delay.reset()
        return [[max]]
      },
    }),
    new ObservableInstrument({
      name: 'nodejs.eventloop.utilization',
      unit: '1',
      description: 'Busy share of the event loop since the last scrape.',
      observe: () => {
        const window = this.#window
        const before = window.utilization
        window.utilization = performance.eventLoopUtilization()
        return [[performance.eventLoopUtilization(window.utilization, before).utilization]]
      },
    }),
    new ObservableInstrument({
      name: 'process.cpu.time',
      unit: 's',
      description: 'CPU time used.',
      labels: ['cpu.mode'],
      kind: 'counter',
      observe: () => {
        const { user, system } = process.cpuUsage()
        return [
          [user / 1e6, 'user'],
          [system / 1e6, 'system'],
        ]
      },
    }),
    new ObservableInstrument({
      name: 'process.memory.usage',
      unit: 'By',
      description: 'Resident memory of the process (RSS).',
      observe: () => [[process.memoryUsage.rss()]],
    }),
    new ObservableInstrument({
      name: 'v8js.memory.heap.used',
      unit: 'By',
      description: 'Used size of the JavaScript heap.',
      observe: () => [[getHeapStatistics().used_heap_size]],
    }),
    new ObservableInstrument({
      name: 'v8js.memory.heap.limit',
      unit: 'By',
      description: 'Maximum size of the JavaScript heap (node --max-old-space-size).',
      observe: () => [[getHeapStatistics().heap_size_limit]],
    }),
    new ObservableInstrument({
      name: 'process.uptime',
      unit: 's',
      description: 'Time since the process started.',
      observe: () => [[process.uptime()]],
    }),
  ]

  start(): void {
    this.#scraped = new EventLoopWindow()
  }

  stop(): void {
    this.#scraped?.delay.disable()
    this.#sent?.delay.disable()
  }

  get #window(): EventLoopWindow {
    if (scraping.getStore() === true) {
      this.#scraped ??= new EventLoopWindow()
      return this.#scraped
    }
    this.#sent ??= new EventLoopWindow()
    return this.#sent
  }
}

/** Node measures the interval between two samples. The part beyond the sampling interval is the delay. */
function secondsOf(nanoseconds: number): number {
  const ms = nanoseconds / 1e6 - resolutionMs
  return Number.isFinite(ms) && ms > 0 ? ms / 1000 : 0
}
