import { LRUCache } from 'lru-cache'
import { limits } from '../../limits/limits.ts'
import type { Access } from '../verifications.ts'
import type { Count, SharedCounters } from './shared-counters.ts'

interface AccountCounts {
  readonly account: Count
  readonly keys: Map<string, Count>
  /** Shared by the keys beyond `accountRateKeysTracked`. */
  readonly otherKeys: Count
  /** No window of a counted key ends before this time, by `performance.now()`. */
  keysFullUntil: number
  accountMax: number
  keyMax: number
  policy: string
}

export interface RateLimitResult {
  /** The limit that the request exceeds. */
  readonly exceeded: 'account' | 'key' | undefined
  /** Of that limit: requests per minute, and seconds until its window ends. */
  readonly max: number
  readonly secondsLeft: number
  /** The values of the headers `RateLimit-Policy` and `RateLimit`. */
  readonly policy: string
  readonly state: string
}

/**
 * Counts requests by account and by key, in windows of a minute that begin with their first request. A request is counted
 * in this process; `shared` adds the counts to Redis in batches and returns the totals of all processes. A request
 * therefore never waits for Redis, and is limited by this process alone while Redis is unavailable.
 */
export class RateLimiter {
  readonly #perMinute: { readonly account: number; readonly key: number }
  readonly #shared: SharedCounters | undefined
  readonly #accounts = new LRUCache<string, AccountCounts>({
    max: limits.rateAccountsTracked,
    dispose: ({ keys }) => {
      this.#keyCounts -= keys.size
    },
  })
  #keyCounts = 0

  constructor(perMinute: { account: number; key: number }, shared?: SharedCounters) {
    this.#perMinute = perMinute
    this.#shared = shared
  }

  /** The number of keys that are counted, of all accounts. */
  get keyCounts(): number {
    return this.#keyCounts
  }

  /** Counts a request, unless it exceeds a limit of the account or the key. */
  take(access: Access): RateLimitResult {
    const now = performance.now()
    const counts = this.#countsOf(access)
    const { account, accountMax, keyMax, policy } = counts
    const key = counts.keys.get(access.keyId) ?? this.#countNewKey(counts, access, now)
    if (account.endsAt <= now) begin(account, now)
    if (key.endsAt <= now) begin(key, now)
    const exceeded = account.used >= accountMax ? 'account' : key.used >= keyMax ? 'key' : undefined
    if (exceeded === undefined) {
      this.#add(account, accountMax)
      this.#add(key, keyMax)
    }
    const accountLeft = secondsUntil(account.endsAt, now)
    const keyLeft = secondsUntil(key.endsAt, now)
    const state = `"account";r=${left(account, accountMax)};t=${accountLeft}, "key";r=${left(key, keyMax)};t=${keyLeft}`
    return exceeded === 'key'
      ? { exceeded, max: keyMax, secondsLeft: keyLeft, policy, state }
      : { exceeded, max: accountMax, secondsLeft: accountLeft, policy, state }
  }

  /** Whether `take` would count a request. */
  hasLeft(access: Access): boolean {
    const now = performance.now()
    const { account, accountMax, keys, otherKeys, keyMax } = this.#countsOf(access)
    const key = keys.get(access.keyId) ?? otherKeys
    return (account.endsAt <= now || account.used < accountMax) && (key.endsAt <= now || key.used < keyMax)
  }

  #countsOf({ accountId, requestsPerMinute, keyRequestsPerMinute }: Access): AccountCounts {
    const accountMax = requestsPerMinute || this.#perMinute.account
    const keyMax = Math.min(keyRequestsPerMinute || this.#perMinute.key, accountMax)
    let counts = this.#accounts.get(accountId)
    if (counts === undefined) {
      counts = {
        account: newCount(accountId),
        keys: new Map(),
        otherKeys: newCount(`${accountId}:*`),
        keysFullUntil: 0,
        accountMax: 0,
        keyMax: 0,
        policy: '',
      }
      this.#accounts.set(accountId, counts)
    }
    if (counts.accountMax !== accountMax || counts.keyMax !== keyMax) {
      counts.accountMax = accountMax
      counts.keyMax = keyMax
      counts.policy = `"account";q=${accountMax};w=${windowSeconds}, "key";q=${keyMax};w=${windowSeconds}`
    }
    return counts
  }

  /** A count is never dropped before its window ends. Otherwise a client could avoid the limit by alternating between keys. */
  #countNewKey(counts: AccountCounts, { accountId, keyId }: Access, now: number): Count {
    const { keys, otherKeys } = counts
    if (keys.size >= limits.accountRateKeysTracked && counts.keysFullUntil <= now) {
      this.#keyCounts -= removeEnded(counts, now)
    }
    if (keys.size >= limits.accountRateKeysTracked) return otherKeys
    const count = newCount(`${accountId}:${keyId}`)
    keys.set(keyId, count)
    this.#keyCounts++
    // Drops the least recently used account. This one was just used, so it is dropped last.
    while (this.#keyCounts > limits.rateKeysTracked) this.#accounts.pop()
    return count
  }

  #add(count: Count, max: number): void {
    count.used++
    count.unsynced++
    this.#shared?.sync(count, count.unsynced >= (max - count.used) / limits.rateUnsyncedDivisor)
  }
}

const windowSeconds = limits.rateWindowMs / 1000

/** Removes counts whose window has ended: the next request would start a new window anyway. */
function removeEnded(counts: AccountCounts, now: number): number {
  const before = counts.keys.size
  let firstEnd = Number.POSITIVE_INFINITY
  for (const [keyId, { endsAt }] of counts.keys) {
    if (endsAt <= now) counts.keys.delete(keyId)
    else firstEnd = Math.min(firstEnd, endsAt)
  }
  counts.keysFullUntil = counts.keys.size < limits.accountRateKeysTracked ? 0 : firstEnd
  return before - counts.keys.size
}

function newCount(name: string): Count {
  return { name, used: 0, unsynced: 0, endsAt: 0, pending: 'no' }
}

function begin(count: Count, now: number): void {
  count.used = 0
  count.unsynced = 0
  count.endsAt = now + limits.rateWindowMs
}

function left(count: Count, max: number): number {
  return Math.max(0, max - count.used)
}

function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / 1000))
}
