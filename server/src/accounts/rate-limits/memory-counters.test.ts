import { afterEach, expect, it, vi } from 'vitest'
import { limits } from '../../limits/limits.ts'
import { MemoryCounters } from './memory-counters.ts'

afterEach(() => void vi.useRealTimers())

it('adds the counts of all callers, in windows that begin with the first of them', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const counters = new MemoryCounters()
  expect(counters.add(['a', 'b'], [3, 1])).toEqual([3, limits.rateWindowMs, 1, limits.rateWindowMs])
  vi.advanceTimersByTime(20_000)
  expect(counters.add(['a'], [4])).toEqual([7, limits.rateWindowMs - 20_000])
  vi.advanceTimersByTime(limits.rateWindowMs - 20_000)
  expect(counters.add(['a'], [1])).toEqual([1, limits.rateWindowMs])
})
