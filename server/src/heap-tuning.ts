import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { limits } from './limits.ts'

/**
 * Lets so much garbage pile up before the whole heap is collected, however much is kept. The engine's own measure is a
 * share of what is kept: it would let a large heap double, or collect a small one every few pages of a thousand records.
 * So the share is set anew after each collection.
 */
export function tuneHeap(): { close(): void } {
  const follow = () =>
    setFlagsFromString(`--heap-growing-percent=${shareOf(getHeapStatistics().used_heap_size)}`)
  follow()
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isOfAll)) follow()
  })
  observer.observe({ entryTypes: ['gc'] })
  return { close: () => observer.disconnect() }
}

/** Whether it was a collection of the whole heap. */
function isOfAll(entry: PerformanceEntry): boolean {
  const detail = 'detail' in entry ? entry.detail : undefined
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return false
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}

/** In per cent. Zero would leave it to the engine. */
function shareOf(keptBytes: number): number {
  return Math.max(Math.round((limits.heapGarbageBytes / keptBytes) * 100), 1)
}
