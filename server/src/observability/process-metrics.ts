import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { Observed } from './instruments.ts'

/** How often the event loop is asked whether it is on time. */
const resolutionMs = 10

/** What the process itself uses, and how late its event loop is: each look covers the time since the one before. */
export class ProcessState {
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs })
  #utilization = performance.eventLoopUtilization()

  readonly instruments = [
    new Observed(
      {
        name: 'nodejs.eventloop.delay.p99',
        unit: 's',
        description: 'How late the event loop is, 99th percentile since the last look.',
      },
      'state',
      () => [[late(this.#delay.percentile(99))]],
    ),
    // The last of the two to be read: it begins the next look.
    new Observed(
      {
        name: 'nodejs.eventloop.delay.max',
        unit: 's',
        description: 'How late the event loop is, the worst since the last look.',
      },
      'state',
      () => {
        const worst = late(this.#delay.max)
        this.#delay.reset()
        return [[worst]]
      },
    ),
    new Observed(
      {
        name: 'nodejs.eventloop.utilization',
        unit: '1',
        description: 'The part of the time since the last look in which the event loop was busy.',
      },
      'state',
      () => {
        const before = this.#utilization
        this.#utilization = performance.eventLoopUtilization()
        return [[performance.eventLoopUtilization(this.#utilization, before).utilization]]
      },
    ),
    new Observed(
      {
        name: 'process.cpu.time',
        unit: 's',
        description: 'Processor time used.',
        labels: ['cpu.mode'],
      },
      'count',
      () => {
        const { user, system } = process.cpuUsage()
        return [
          [user / 1e6, 'user'],
          [system / 1e6, 'system'],
        ]
      },
    ),
    new Observed(
      { name: 'process.memory.usage', unit: 'By', description: 'Memory that the process holds (RSS).' },
      'state',
      () => [[process.memoryUsage.rss()]],
    ),
    new Observed(
      { name: 'v8js.memory.heap.used', unit: 'By', description: 'Memory of JavaScript objects.' },
      'state',
      () => [[getHeapStatistics().used_heap_size]],
    ),
    new Observed(
      { name: 'v8js.memory.heap.limit', unit: 'By', description: 'Memory that JavaScript objects may take.' },
      'state',
      () => [[getHeapStatistics().heap_size_limit]],
    ),
    new Observed(
      { name: 'process.uptime', unit: 's', description: 'Time since the process began.' },
      'state',
      () => [[process.uptime()]],
    ),
  ]

  start(): void {
    this.#delay.enable()
  }

  stop(): void {
    this.#delay.disable()
  }
}

/** Node measures from one look of its timer to the next; what is beyond the timer's own time is delay. */
function late(nanoseconds: number): number {
  const ms = nanoseconds / 1e6 - resolutionMs
  return Number.isFinite(ms) && ms > 0 ? ms / 1000 : 0
}
