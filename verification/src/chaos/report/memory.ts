import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerNode } from '../cluster/cluster.ts'
import { inspectorPort } from '../cluster/ports.ts'

export interface MemorySample {
  readonly at: number
  /** With the memory of buffers, after a garbage collection. */
  readonly heap: number
  readonly resident: number
}

const sampleMs = 15_000
export const megabyte = 1024 * 1024

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
      const heap = await collectedHeap(namespace.address)
      const status = readFileSync(`/proc/${program.pid}/status`, 'utf8')
      const resident = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]
      this.samples.push({ at: Date.now(), heap, resident: Number(resident) * 1024 })
    } catch {
      // The next sample follows soon.
    }
  }
}

interface HeapUsage {
  readonly usedSize: number
  readonly backingStorageSize: number
}

/**
 * Lets a process collect its garbage, and returns what remains. Without that, how much garbage a process has depends on when
 * V8 has last collected all of it, which may be minutes ago.
 */
async function collectedHeap(address: string): Promise<number> {
  const signal = AbortSignal.timeout(sampleMs)
  const response = await fetch(`http://${address}:${inspectorPort}/json/list`, { signal })
  const targets: { readonly webSocketDebuggerUrl: string }[] = JSON.parse(await response.text())
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '')
  const call = async (id: number, method: string): Promise<Partial<HeapUsage>> => {
    socket.send(JSON.stringify({ id, method }))
    for (;;) {
      const [event]: MessageEvent[] = await once(socket, 'message', { signal })
      const reply: { readonly id?: number; readonly result?: HeapUsage } = JSON.parse(String(event?.data))
      if (reply.id === id) return reply.result ?? {}
    }
  }
  try {
    await once(socket, 'open', { signal })
    await call(1, 'HeapProfiler.collectGarbage')
    const { usedSize = 0, backingStorageSize = 0 } = await call(2, 'Runtime.getHeapUsage')
    return usedSize + backingStorageSize
  } finally {
    socket.close()
  }
}

/**
 * Megabytes per hour, by a line through the lowest sample of each minute, when the fewest requests were in flight. The first
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
