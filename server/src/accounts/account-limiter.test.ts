import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Failure } from '../errors/errors.ts'
import { AccountLimiter } from './account-limiter.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const limiterOf = (totalMax = 100) =>
  new AccountLimiter({
    runningMax: 2,
    waitingMax: 3,
    waitMsMax: 1_000,
    totalMax,
    busy: () => new Failure('account_busy', 'busy'),
  })

const scope = (accountId: string) => ({ accountId })

/** Starts and ends operations by name. `log` has the outcome of each, in order. */
class Operations {
  readonly log: string[] = []
  readonly #limiter: AccountLimiter
  readonly #releases = new Map<string, () => void>()

  constructor(limiter: AccountLimiter) {
    this.#limiter = limiter
  }

  async begin(name: string, accountId = '1', signal = new AbortController().signal): Promise<void> {
    void this.#acquire(name, accountId, signal)
    await settled()
  }

  async #acquire(name: string, accountId: string, signal: AbortSignal): Promise<void> {
    try {
      this.#releases.set(name, await this.#limiter.acquire(scope(accountId), signal))
      this.log.push(`${name} runs`)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.log.push(`${name} ${error.code}`)
    }
  }

  async end(name: string): Promise<void> {
    this.#releases.get(name)?.()
    this.#releases.delete(name)
    await settled()
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0)

it('runs two operations of an account at once, queues three in order, and rejects the sixth', async () => {
  const operations = new Operations(limiterOf())
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await operations.begin(name)
  expect(operations.log).toEqual(['a runs', 'b runs', 'f account_busy'])
  await operations.end('b')
  await operations.end('a')
  await operations.end('c')
  expect(operations.log.slice(3)).toEqual(['c runs', 'd runs', 'e runs'])
})

it('does not make another account wait', async () => {
  const operations = new Operations(limiterOf())
  for (const name of ['a', 'b', 'c']) await operations.begin(name)
  await operations.begin('other', '2')
  expect(operations.log).toEqual(['a runs', 'b runs', 'other runs'])
})

it('rejects an operation that waits too long, or exceeds the total of all accounts', async () => {
  const limiter = limiterOf(4)
  const operations = new Operations(limiter)
  for (const name of ['a', 'b', 'c']) await operations.begin(name)
  await operations.begin('other', '2')
  await operations.begin('third', '3')
  expect(operations.log).toEqual(['a runs', 'b runs', 'other runs', 'third overloaded'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(operations.log.slice(4)).toEqual(['c account_busy'])
  expect(limiter.inFlight).toBe(3)
  await operations.begin('third again', '3')
  expect(operations.log.slice(5)).toEqual(['third again runs'])
})

it('does not start an operation whose client disconnects while it waits, and removes it from the queue', async () => {
  const limiter = limiterOf()
  const operations = new Operations(limiter)
  const client = new AbortController()
  for (const name of ['a', 'b']) await operations.begin(name)
  await operations.begin('c', '1', client.signal)
  for (const name of ['d', 'e']) await operations.begin(name)
  client.abort()
  await operations.begin('f')
  for (const name of ['a', 'b', 'd']) await operations.end(name)
  expect(operations.log).toEqual(['a runs', 'b runs', 'c client_disconnected', 'd runs', 'e runs', 'f runs'])
  for (const name of ['e', 'f']) await operations.end(name)
  expect(limiter.inFlight).toBe(0)
})
