import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limits } from '../../limits.ts'
import { ReaderThroughput } from './reader-throughput.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const enough = limits.exportReaderBytesPerSecondMin
const pass = (ms: number) => void vi.advanceTimersByTime(ms)

/** Each second one piece, which the reader takes after so much of it. */
function read(
  execution: ReaderThroughput,
  { seconds, bytes, afterMs }: Record<'seconds' | 'bytes' | 'afterMs', number>,
) {
  for (let second = 0; second < seconds; second++) {
    pass(1000 - afterMs)
    execution.waits()
    pass(afterMs)
    execution.took(bytes)
  }
}

it('a reader that takes nothing is slow, but not before it had time', () => {
  const execution = new ReaderThroughput(limits)
  execution.waits()
  pass(limits.exportReaderWindowMs - 1)
  expect(execution.isSlow()).toBe(false)
  pass(1)
  expect(execution.isSlow()).toBe(true)
  pass(limits.exportReaderWindowMs)
  expect(execution.isSlow()).toBe(true)
})

it.each([
  ['that takes enough', { bytes: enough, afterMs: 1000 }, false],
  ['that takes less', { bytes: enough - 1, afterMs: 1000 }, true],
  ['that waits for the database more than it is waited for', { bytes: 100, afterMs: 400 }, false],
])('a reader %s: %o', (_, how, isSlow) => {
  const execution = new ReaderThroughput(limits)
  read(execution, { seconds: 10, ...how })
  expect(execution.isSlow()).toBe(isSlow)
})

it('is judged by what was since the last time', () => {
  const execution = new ReaderThroughput(limits)
  read(execution, { seconds: 60, bytes: 100 * enough, afterMs: 100 })
  execution.waits()
  expect(execution.isSlow()).toBe(false)
  pass(limits.exportReaderWindowMs)
  expect(execution.isSlow()).toBe(true)
  execution.took(1)
  read(execution, { seconds: 4, bytes: 2 * enough, afterMs: 1000 })
  expect(execution.isSlow()).toBe(false)
})
