import { Redis } from 'ioredis'
import { limits } from '../limits.ts'

/**
 * Adds to each count and says what it is now and how long its window still lasts. The window begins with the first
 * request that any process tells of, and its end is Redis's to know: clocks need not agree.
 */
const addAll = `local told = {}
for i, name in ipairs(KEYS) do
  local used = redis.call('INCRBY', name, ARGV[i + 1])
  local left = redis.call('PTTL', name)
  if left < 0 then
    left = tonumber(ARGV[1])
    redis.call('PEXPIRE', name, left)
  end
  told[2 * i - 1] = used
  told[2 * i] = left
end
return told`

/** Requests of one account, or of one of its keys, in the minute that runs. */
export interface Count {
  /** What all processes call it. */
  readonly name: string
  /** As far as this process knows: what all had used when it last heard, and its own since. */
  used: number
  /** Of these, what the others have not been told. */
  untold: number
  /** By `performance.now()`. */
  endsAt: number
  /** Already on its way to be told, when its turn comes or as soon as possible. */
  telling: 'no' | 'later' | 'soon'
}

export interface SharedCountsOptions {
  readonly url: string
  /** Told when counts begin to be shared, or go on in this process alone. */
  readonly onChange: (isShared: boolean, reason: string) => void
}

/**
 * The counts of all processes, in Redis. One script takes many counts at a time: measured, 3 µs of this process for
 * each, where a command for each takes 27. A count is told soon where what is untold could matter to its limit, and
 * otherwise when some time has passed. Nobody waits for it.
 */
export class SharedCounters {
  readonly #redis: Redis
  readonly #onChange: SharedCountsOptions['onChange']
  #soon: Count[] = []
  /** Each once: what is told twice in a batch would count twice. */
  readonly #later = new Set<Count>()
  #timer: NodeJS.Timeout | undefined
  #isTelling = false
  #isShared: boolean | undefined

  constructor({ url, onChange }: SharedCountsOptions) {
    this.#onChange = onChange
    this.#redis = new Redis(url, {
      // What cannot be told at once is kept in the counts themselves, so nothing has to queue here.
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

  emit(count: Count, soon: boolean): void {
    if (count.telling === 'soon' || (count.telling === 'later' && !soon)) return
    if (this.#redis.status !== 'ready') return
    if (soon) {
      count.telling = 'soon'
      this.#soon.push(count)
      if (this.#soon.length === 1 && !this.#isTelling) setImmediate(() => void this.#tellSoon())
      return
    }
    count.telling = 'later'
    this.#later.add(count)
    this.#timer ??= setTimeout(() => void this.#tellLater(), limits.rateSyncMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    // What ends on purpose is not worth telling.
    this.#isShared = false
    this.#redis.disconnect()
  }

  /** One batch at a time: while it is under way, the next one gathers. */
  async #tellSoon(): Promise<void> {
    if (this.#isTelling) return
    this.#isTelling = true
    while (this.#soon.length > 0) await this.#add(this.#soon.splice(0, limits.rateSyncBatchMax))
    this.#isTelling = false
  }

  async #tellLater(): Promise<void> {
    const counts = [...this.#later].filter((count) => count.telling === 'later')
    this.#later.clear()
    for (let at = 0; at < counts.length; at += limits.rateSyncBatchMax) {
      await this.#add(counts.slice(at, at + limits.rateSyncBatchMax))
    }
    this.#timer = undefined
    if (this.#later.size > 0) this.#timer = setTimeout(() => void this.#tellLater(), limits.rateSyncMs)
  }

  async #add(counts: readonly Count[]): Promise<void> {
    const untold = counts.map((count) => count.untold)
    for (const count of counts) {
      count.untold = 0
      count.telling = 'no'
    }
    try {
      const told = await this.#redis.eval(
        addAll,
        counts.length,
        ...counts.map(({ name }) => `quartermaster:rate:${name}`),
        limits.rateWindowMs,
        ...untold,
      )
      this.#change(true)
      this.#learn(counts, Array.isArray(told) ? told.map(Number) : [])
    } catch (error) {
      // Not told again: Redis may have heard it, and to count it twice would refuse what is allowed.
      this.#change(false, error instanceof Error ? error.message : String(error))
    }
  }

  #learn(counts: readonly Count[], told: readonly number[]): void {
    const now = performance.now()
    for (const [i, count] of counts.entries()) {
      count.used = (told[2 * i] ?? 0) + count.untold
      count.endsAt = now + (told[2 * i + 1] ?? 0)
    }
  }

  #change(isShared: boolean, reason = ''): void {
    if (this.#isShared === isShared) return
    this.#isShared = isShared
    this.#onChange(isShared, reason)
  }
}
