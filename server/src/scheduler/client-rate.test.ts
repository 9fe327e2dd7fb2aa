import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defaultLimits } from '../limits/passed-limits.ts'
import { ClientRate } from './client-rate.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const enough = defaultLimits.slowClientBytesPerSecondMin
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

/** Reads one chunk per second, which the reader takes `afterMs` after it is offered. */
function read(
  reader: ClientRate,
  { seconds, bytes, afterMs }: Record<'seconds' | 'bytes' | 'afterMs', number>,
) {
  for (let second = 0; second < seconds; second++) {
    pass(1000 - afterMs)
    reader.waitStarted()
    pass(afterMs)
    reader.waitEnded(bytes)
  }
}

it('a reader that takes nothing is slow after one window', () => {
  const reader = new ClientRate(defaultLimits)
  reader.waitStarted()
  pass(defaultLimits.slowClientWindowMs - 1)
  expect(reader.isSlow()).toBe(false)
  pass(1)
  expect(reader.isSlow()).toBe(true)
  pass(defaultLimits.slowClientWindowMs)
  expect(reader.isSlow()).toBe(true)
})

it.each([
  ['at the minimum rate', { bytes: enough, afterMs: 1000 }, false],
  ['below the minimum rate', { bytes: enough - 1, afterMs: 1000 }, true],
  ['that mostly waits for the database', { bytes: 100, afterMs: 400 }, false],
])('a reader %s: %o', (_, how, isSlow) => {
  const reader = new ClientRate(defaultLimits)
  read(reader, { seconds: 10, ...how })
  expect(reader.isSlow()).toBe(isSlow)
})

it('measures each window separately', () => {
  const reader = new ClientRate(defaultLimits)
  read(reader, { seconds: 60, bytes: 100 * enough, afterMs: 100 })
  reader.waitStarted()
  expect(reader.isSlow()).toBe(false)
  pass(defaultLimits.slowClientWindowMs)
  expect(reader.isSlow()).toBe(true)
  reader.waitEnded(1)
  read(reader, { seconds: 4, bytes: 2 * enough, afterMs: 1000 })
  expect(reader.isSlow()).toBe(false)
})
