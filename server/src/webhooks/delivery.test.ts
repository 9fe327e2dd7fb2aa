import { expect, it } from 'vitest'
import { defaultLimits } from '../limits/passed-limits.ts'
import { retryDelaySeconds } from './delivery.ts'

const delays = (random: number) =>
  Array.from({ length: 14 }, (_, i) => retryDelaySeconds(i + 1, undefined, defaultLimits, () => random))

it('doubles the delay from 5 seconds to one hour, less up to a half', () => {
  expect(delays(1)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600, 3600])
  expect(delays(0)).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 1800, 1800, 1800, 1800])
  expect(retryDelaySeconds(1_000_000, undefined, defaultLimits, () => 1)).toBe(3600)
})

it('waits at least as long as Retry-After says, but not longer than a day', () => {
  expect(retryDelaySeconds(1, 90, defaultLimits, () => 1)).toBe(90)
  expect(retryDelaySeconds(10, 90, defaultLimits, () => 1)).toBe(2560)
  expect(retryDelaySeconds(1, 10_000_000, defaultLimits, () => 1)).toBe(86_400)
})
