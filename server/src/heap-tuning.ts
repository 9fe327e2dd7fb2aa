import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { limits } from './limits/limits.ts'

/**
 * Starts a full garbage collection when `heapGarbageBytes` have been added to the live heap. By default V8 waits until the
 * heap has grown by a percentage: a large heap would double, and a small one would be collected after a small number of pages of
 * 1,000 records. So the percentage is recomputed after each full collection.
 */
export function tuneHeap(): { close(): void } {
  const setGrowth = () =>
    setFlagsFromString(`--heap-growing-percent=${growthPercent(getHeapStatistics().used_heap_size)}`)
  setGrowth()
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isFullCollection)) setGrowth()
  })
  observer.observe({ entryTypes: ['gc'] })
  return { close: () => observer.disconnect() }
}

function isFullCollection(entry: PerformanceEntry): boolean {
  const detail = 'detail' in entry ? entry.detail : undefined
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return false
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}

/** At least 1: V8 ignores 0. */
function growthPercent(liveBytes: number): number {
  return Math.max(Math.round((limits.heapGarbageBytes / liveBytes) * 100), 1)
}
