import type { Redis } from 'ioredis'
import { limits } from '../limits.ts'
import { openRedis } from './redis-connection.ts'

/**
 * Adds to each counter, and returns its value and the remaining milliseconds of its window. The window begins when a process
 * first adds to the counter, and Redis measures it, so that the clocks of processes need not agree.
 */
const addAll = `local results = {}
for i, name in ipairs(KEYS) do
  local used = redis.call('INCRBY', name, ARGV[i + 1])
  local left = redis.call('PTTL', name)
  if left < 0 then
    left = tonumber(ARGV[1])
    redis.call('PEXPIRE', name, left)
  end
  results[2 * i - 1] = used
  results[2 * i] = left
end
return results`

/** Requests of one account, or of one key, in the current window. */
export interface Count {
  /** The same in all processes. */
  readonly name: string
  /** The total of all processes at the last sync, and the requests of this process since. */
  used: number
  /** Requests of this process that have not been added in Redis. */
  unsynced: number
  /** By `performance.now()`. */
  endsAt: number
  /** Whether the count is queued for a sync. */
  pending: 'no' | 'later' | 'soon'
}

export interface SharedCountersOptions {
  readonly url: string
  /** Called when Redis becomes available or unavailable. */
  readonly onChange: (isShared: boolean, reason: string) => void
}

/**
 * Adds the counts of this process to counters in Redis, which all processes share. One script adds a batch: measured, this
 * takes 3 µs of this process for each count, and a command for each takes 27 µs. A count is synced soon if its
 * unsynced requests could matter to its limit, and otherwise within `rateSyncMs`. No request waits for it.
 */
export class SharedCounters {
  readonly #redis: Redis
  readonly #onChange: SharedCountersOptions['onChange']
  #soon: Count[] = []
  /** A set: a count that is twice in a batch would be added twice. */
  readonly #later = new Set<Count>()
  #timer: NodeJS.Timeout | undefined
  #isSyncing = false
  #isShared: boolean | undefined

  constructor({ url, onChange }: SharedCountersOptions) {
    this.#onChange = onChange
    this.#redis = openRedis(url, {
      // While Redis is unavailable, nothing is queued: `unsynced` has the sum.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      commandTimeout: limits.redisMsMax,
      connectTimeout: limits.redisConnectMsMax,
      retryStrategy: (attempt) => Math.min(attempt * 100, limits.redisRetryMsMax),
    })
    this.#redis.on('error', (error: Error) => this.#change(false, error.message))
    this.#redis.on('close', () => this.#change(false, 'the connection was closed'))
    this.#redis.on('ready', () => this.#change(true))
  }

  /** Queues the count for the next batch. */
  sync(count: Count, soon: boolean): void {
    if (count.pending === 'soon' || (count.pending === 'later' && !soon)) return
    if (this.#redis.status !== 'ready') return
    if (soon) {
      count.pending = 'soon'
      this.#soon.push(count)
      if (this.#soon.length === 1 && !this.#isSyncing) setImmediate(() => void this.#syncSoon())
      return
    }
    count.pending = 'later'
    this.#later.add(count)
    this.#timer ??= setTimeout(() => void this.#syncLater(), limits.rateSyncMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    // Suppresses the report that Redis is unavailable.
    this.#isShared = false
    this.#redis.disconnect()
  }

  /** One batch at a time: counts queue up while it is in flight. */
  async #syncSoon(): Promise<void> {
    if (this.#isSyncing) return
    this.#isSyncing = true
    while (this.#soon.length > 0) await this.#add(this.#soon.splice(0, limits.rateSyncBatchMax))
    this.#isSyncing = false
  }

  async #syncLater(): Promise<void> {
    const counts = [...this.#later].filter((count) => count.pending === 'later')
    this.#later.clear()
    for (let i = 0; i < counts.length; i += limits.rateSyncBatchMax) {
      await this.#add(counts.slice(i, i + limits.rateSyncBatchMax))
    }
    this.#timer = undefined
    if (this.#later.size > 0) this.#timer = setTimeout(() => void this.#syncLater(), limits.rateSyncMs)
  }

  async #add(counts: readonly Count[]): Promise<void> {
    const unsynced = counts.map((count) => count.unsynced)
    for (const count of counts) {
      count.unsynced = 0
      count.pending = 'no'
    }
    try {
      const results = await this.#redis.eval(
        addAll,
        counts.length,
        ...counts.map(({ name }) => `quartermaster:rate:${name}`),
        limits.rateWindowMs,
        ...unsynced,
      )
      this.#change(true)
      this.#update(counts, Array.isArray(results) ? results.map(Number) : [])
    } catch (error) {
      // Not retried: Redis may have added them already, and counting them twice would reject allowed requests.
      this.#change(false, error instanceof Error ? error.message : String(error))
    }
  }

  #update(counts: readonly Count[], results: readonly number[]): void {
    const now = performance.now()
    for (const [i, count] of counts.entries()) {
      count.used = (results[2 * i] ?? 0) + count.unsynced
      count.endsAt = now + (results[2 * i + 1] ?? 0)
    }
  }

  #change(isShared: boolean, reason = ''): void {
    if (this.#isShared === isShared) return
    this.#isShared = isShared
    this.#onChange(isShared, reason)
  }
}
