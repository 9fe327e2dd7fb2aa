import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Failure } from '../errors/errors.ts'
import { FairScheduler, type SchedulerOptions, type Seat } from './fair-scheduler.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settled = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

const usual: SchedulerOptions = {
  seats: 100,
  accountSeats: 2,
  waitingMax: 50,
  accountWaitingMax: 3,
  waitMsMax: 1_000,
  busy: (rejection) => new Failure('account_busy', rejection),
}

/** Starts and ends operations by name; the account is the first letter. `log` has what happened to each, in order. */
class Operations {
  readonly scheduler: FairScheduler
  readonly slow = new Set<string>()
  readonly #seats = new Map<string, Seat>()
  #log: string[] = []

  constructor(options: Partial<SchedulerOptions> = {}) {
    this.scheduler = new FairScheduler({ ...usual, ...options })
  }

  /** What has happened since the last call. */
  get log(): string[] {
    const log = this.#log
    this.#log = []
    return log
  }

  async begin(names: string, signal?: AbortSignal): Promise<void> {
    for (const name of names.split(' ')) {
      void this.#run(name, signal)
      await settled()
    }
  }

  async end(names: string): Promise<void> {
    for (const name of names.split(' ')) {
      this.#seats.get(name)?.release()
      this.#seats.delete(name)
      await settled()
    }
  }

  async #run(name: string, signal: AbortSignal | undefined): Promise<void> {
    try {
      const seat = await this.scheduler.acquire({ accountId: name.slice(0, 1) }, signal)
      this.#seats.set(name, seat)
      seat.holder = {
        isSlow: () => this.slow.has(name),
        abort: () => {
          this.#log.push(`${name} aborted`)
          seat.release()
        },
      }
      this.#log.push(`${name} runs`)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.#log.push(`${name} ${error.code === 'account_busy' ? error.message : error.code}`)
    }
  }
}

it('runs two operations of an account at once, queues three in order, and rejects the sixth', async () => {
  const operations = new Operations()
  await operations.begin('a1 a2 a3 a4 a5 a6')
  expect(operations.log).toEqual(['a1 runs', 'a2 runs', 'a6 queue-full'])
  await operations.end('a2 a1 a3')
  expect(operations.log).toEqual(['a3 runs', 'a4 runs', 'a5 runs'])
})

it('does not make another account wait for these', async () => {
  const operations = new Operations()
  await operations.begin('a1 a2 a3 b1')
  expect(operations.log).toEqual(['a1 runs', 'a2 runs', 'b1 runs'])
})

it('gives free seats to the accounts in turn, not in order of arrival', async () => {
  const operations = new Operations({ seats: 2, accountWaitingMax: 10 })
  await operations.begin('a1 a2 a3 a4 a5 b1 b2 c1')
  await operations.end('a1 a2')
  await operations.end('b1 a3')
  await operations.end('c1 a4')
  expect(operations.log).toEqual([
    'a1 runs',
    'a2 runs',
    'a3 runs',
    'b1 runs',
    'c1 runs',
    'a4 runs',
    'b2 runs',
    'a5 runs',
  ])
})

it('takes the newest operation of the longest queue to let one of another account wait', async () => {
  const operations = new Operations({ seats: 2, waitingMax: 4, accountWaitingMax: 10 })
  await operations.begin('a1 a2 a3 a4 a5 a6')
  await operations.begin('b1 b2')
  expect(operations.log).toEqual(['a1 runs', 'a2 runs', 'a6 displaced', 'a5 displaced'])
  // Both queues have two now: neither account can take from the other, but a third one can.
  await operations.begin('b3 a7')
  expect(operations.log).toEqual(['b3 queue-full', 'a7 queue-full'])
  await operations.begin('c1')
  expect(operations.log).toEqual(['a4 displaced'])
  await operations.end('a1 a2')
  expect(operations.log).toEqual(['a3 runs', 'b1 runs'])
})

it('rejects an operation that waits too long; it is the fault of its account only if that has all of its seats', async () => {
  const operations = new Operations({ seats: 3 })
  await operations.begin('a1 a2 a3 b1 c1')
  await settled(1_000)
  expect(operations.log).toEqual(['a1 runs', 'a2 runs', 'b1 runs', 'a3 waited', 'c1 overloaded'])
  expect(operations.scheduler.inFlight).toBe(3)
  await operations.end('a1 a2 b1')
  expect(operations.scheduler.inFlight).toBe(0)
})

it('does not start an operation whose client disconnects while it waits, and removes it from the queue', async () => {
  const operations = new Operations()
  const client = new AbortController()
  await operations.begin('a1 a2')
  await operations.begin('a3', client.signal)
  await operations.begin('a4 a5')
  client.abort()
  await operations.begin('a6')
  await operations.end('a1 a2 a4')
  expect(operations.log).toEqual([
    'a1 runs',
    'a2 runs',
    'a3 client_disconnected',
    'a4 runs',
    'a5 runs',
    'a6 runs',
  ])
  await operations.end('a5 a6')
  expect(operations.scheduler.inFlight).toBe(0)
})

it('releases a seat once', async () => {
  const { scheduler } = new Operations({ seats: 2 })
  const seat = await scheduler.acquire({ accountId: 'a' })
  seat.release()
  seat.release()
  expect(scheduler.inFlight).toBe(0)
})

it('counts operations that wait for other accounts, not those that wait for their own', async () => {
  const operations = new Operations({ seats: 3 })
  await operations.begin('a1 a2 a3 a4 b1 b2 c1')
  expect(operations.scheduler.waitingForOthers).toBe(2)
})

const exports = { seats: 4, spareSeats: 1, accountWaitingMax: 1, waitsForOwn: false }

it('gives an account a second seat only if another remains free, if there are spare seats', async () => {
  const operations = new Operations(exports)
  await operations.begin('a1 a2 a3 b1 b2 c1')
  expect(operations.log).toEqual([
    'a1 runs',
    'a2 runs',
    'a3 queue-full',
    'b1 runs',
    'b2 queue-full',
    'c1 runs',
  ])
})

it('lets one operation of an account wait for the seats of others, and none for its own', async () => {
  const operations = new Operations(exports)
  await operations.begin('a1 a2 b1 c1 d1 e1 d2 b2')
  expect(operations.log.slice(4)).toEqual(['d2 queue-full', 'b2 queue-full'])
  await operations.end('b1')
  expect(operations.log).toEqual(['d1 runs'])
})

it('aborts operations with slow clients while others wait: no more than needed, first of accounts with two', async () => {
  const operations = new Operations({ ...exports, waitMsMax: 60_000, givesWay: { slowCheckMs: 500 } })
  await operations.begin('b1 a1 a2 c1')
  for (const name of ['b1', 'a2', 'c1']) operations.slow.add(name)
  await settled(60_000)
  expect(operations.log).toHaveLength(4)
  await operations.begin('d1')
  await settled(500)
  expect(operations.log).toEqual(['a2 aborted', 'd1 runs'])
  await settled(50_000)
  expect(operations.log).toEqual([])
})

it('takes the oldest seat of the account with the most at once, if they give way to accounts with fewer', async () => {
  const operations = new Operations({ seats: 4, accountSeats: 3, waitingMax: 0, givesWay: 'largest' })
  await operations.begin('a1 a2 a3 a4 b1')
  expect(operations.log).toEqual(['a1 runs', 'a2 runs', 'a3 runs', 'a4 queue-full', 'b1 runs'])
  await operations.begin('b2 b3')
  expect(operations.log).toEqual(['a1 aborted', 'b2 runs', 'b3 queue-full'])
  await operations.begin('c1')
  expect(operations.log).toEqual(['a2 aborted', 'c1 runs'])
})
