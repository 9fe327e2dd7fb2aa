import type { Redis } from 'ioredis'
import { limits } from '../../limits/limits.ts'
import type { CounterStore } from './counter-store.ts'
import { openRedis } from './redis-connection.ts'

/** Redis measures the windows, so that the clocks of processes need not agree. */
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

export interface RedisCountersOptions {
  readonly url: string
  /** Called when Redis becomes available or unavailable. */
  readonly onChange: (isShared: boolean, reason: string) => void
}

/** One script adds a batch: measured, this takes 3 µs of this process for each count, and a command for each takes 27 µs. */
export class RedisCounters implements CounterStore {
  readonly #redis: Redis
  readonly #onChange: RedisCountersOptions['onChange']
  #isShared: boolean | undefined

  constructor({ url, onChange }: RedisCountersOptions) {
    this.#onChange = onChange
    this.#redis = openRedis(url, {
      // While Redis is unavailable, nothing is queued: the counts of this process have the sum.
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

  get isAvailable(): boolean {
    return this.#redis.status === 'ready'
  }

  async add(names: readonly string[], amounts: readonly number[]): Promise<readonly number[]> {
    try {
      const results = await this.#redis.eval(
        addAll,
        names.length,
        ...names.map((name) => `quartermaster:rate:${name}`),
        limits.rateWindowMs,
        ...amounts,
      )
      this.#change(true)
      return Array.isArray(results) ? results.map(Number) : []
    } catch (error) {
      this.#change(false, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  close(): void {
    // Suppresses the report that Redis is unavailable.
    this.#isShared = false
    this.#redis.disconnect()
  }

  #change(isShared: boolean, reason = ''): void {
    if (this.#isShared === isShared) return
    this.#isShared = isShared
    this.#onChange(isShared, reason)
  }
}
