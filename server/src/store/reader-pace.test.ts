import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limits } from '../limits.ts'
import { ReaderPace } from './reader-pace.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const enough = limits.exportReaderBytesPerSecond
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

/** Each second one piece, which the reader takes after so much of it. */
function read(
  pace: ReaderPace,
  { seconds, bytes, afterMs }: Record<'seconds' | 'bytes' | 'afterMs', number>,
) {
  for (let second = 0; second < seconds; second++) {
    pass(1000 - afterMs)
    pace.waits()
    pass(afterMs)
    pace.took(bytes)
  }
}

it('a reader that takes nothing is slow, but not before it had time', () => {
  const pace = new ReaderPace()
  pace.waits()
  pass(limits.exportReaderMs - 1)
  expect(pace.isSlow()).toBe(false)
  pass(1)
  expect(pace.isSlow()).toBe(true)
  pass(limits.exportReaderMs)
  expect(pace.isSlow()).toBe(true)
})

it.each([
  ['that takes enough', { bytes: enough, afterMs: 1000 }, false],
  ['that takes less', { bytes: enough - 1, afterMs: 1000 }, true],
  ['that waits for the database more than it is waited for', { bytes: 100, afterMs: 400 }, false],
])('a reader %s: %o', (_, how, isSlow) => {
  const pace = new ReaderPace()
  read(pace, { seconds: 10, ...how })
  expect(pace.isSlow()).toBe(isSlow)
})

it('is judged by what was since the last time', () => {
  const pace = new ReaderPace()
  read(pace, { seconds: 60, bytes: 100 * enough, afterMs: 100 })
  pace.waits()
  expect(pace.isSlow()).toBe(false)
  pass(limits.exportReaderMs)
  expect(pace.isSlow()).toBe(true)
  pace.took(1)
  read(pace, { seconds: 4, bytes: 2 * enough, afterMs: 1000 })
  expect(pace.isSlow()).toBe(false)
})
