import { readFileSync } from 'node:fs'
import type { ServerNode } from '../cluster/cluster.ts'
import { adminPort } from '../cluster/ports.ts'

export interface MemorySample {
  readonly at: number
  readonly heap: number
  readonly resident: number
}

const sampleMs = 2_000
const megabyte = 1024 * 1024

/** Samples the memory of a server until `stop`. */
export class MemoryWatch {
  readonly samples: MemorySample[] = []
  readonly #server: ServerNode
  readonly #timer: NodeJS.Timeout

  constructor(server: ServerNode) {
    this.#server = server
    this.#timer = setInterval(() => void this.#sample(), sampleMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #sample(): Promise<void> {
    const { namespace, program } = this.#server
    try {
      const response = await fetch(`http://${namespace.address}:${adminPort}/metrics`, {
        signal: AbortSignal.timeout(sampleMs),
      })
      const heap = /^v8js_memory_heap_used_bytes(?:\{.*\})? (\d+)/m.exec(await response.text())?.[1]
      const status = readFileSync(`/proc/${program.pid}/status`, 'utf8')
      const resident = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
      if (heap !== undefined && resident !== undefined)
        this.samples.push({ at: Date.now(), heap: Number(heap), resident: Number(resident) * 1024 })
    } catch {
      // The next sample follows soon.
    }
  }
}

/**
 * Megabytes per hour, by a line through the lowest sample of each minute: what remains after a garbage collection. The first
 * third is left out, because caches fill.
 */
export function slope(samples: readonly MemorySample[], of: 'heap' | 'resident'): number {
  const from = samples[0]?.at ?? 0
  const to = samples.at(-1)?.at ?? 0
  const lowest = new Map<number, MemorySample>()
  for (const sample of samples.filter(({ at }) => at >= from + (to - from) / 3)) {
    const minute = Math.floor((sample.at - from) / 60_000)
    if (sample[of] < (lowest.get(minute)?.[of] ?? Number.POSITIVE_INFINITY)) lowest.set(minute, sample)
  }
  const points = [...lowest.values()].map((sample) => ({
    x: (sample.at - from) / 3_600_000,
    y: sample[of] / megabyte,
  }))
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const variance = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  return variance === 0 ? 0 : points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / variance
}
