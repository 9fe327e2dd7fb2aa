import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withTimeout } from './timeout.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const timedOut = () => new Error('timed out')

it('resolves and rejects as the promise does, and leaves no timer behind', async () => {
  await expect(withTimeout(1_000, Promise.resolve('done'), timedOut)).resolves.toBe('done')
  await expect(withTimeout(1_000, Promise.reject(new Error('failed')), timedOut)).rejects.toThrow('failed')
  expect(vi.getTimerCount()).toBe(0)
})

it('rejects when the time is over', async () => {
  const result = expect(withTimeout(1_000, new Promise(() => {}), timedOut)).rejects.toThrow('timed out')
  await vi.advanceTimersByTimeAsync(1_000)
  await vi.runAllTimersAsync()
  await result
})

it('accepts a result that arrives in the same event-loop iteration as the timeout', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const result = withTimeout(1_000, promise, timedOut)
  setTimeout(() => resolve('just in time'), 1_000)
  await vi.runAllTimersAsync()
  await expect(result).resolves.toBe('just in time')
})
