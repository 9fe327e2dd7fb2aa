import { LRUCache } from 'lru-cache'
import { limits } from '../limits.ts'
import type { Access } from './key-verifier.ts'
import type { Count, SharedCounters } from './shared-counters.ts'

interface AccountCounts {
  readonly account: Count
  readonly keys: Map<string, Count>
  /** Shared by the keys beyond those that are counted apart. */
  readonly otherKeys: Count
  /** Before then none of the counted keys' windows ends, by `performance.now()`. */
  keysFullUntil: number
  accountMax: number
  keyMax: number
  policy: string
}

/** What a request is told about its limits; with `refused`, which of them it met. */
export interface Taken {
  readonly refused: 'account' | 'key' | undefined
  /** Of the limit that refused: requests a minute, and seconds until there are new ones. */
  readonly most: number
  readonly secondsLeft: number
  /** The headers `RateLimit-Policy` and `RateLimit`. */
  readonly policy: string
  readonly state: string
}

/**
 * Counts requests by account and key, in windows of a minute that begin with their first request. Counting is done
 * here, at once; `shared` tells the other processes in batches, and what they used comes back that way. So a request
 * never waits for it, and goes on being counted where it is away.
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

  /** How many keys are counted, of all accounts. */
  get keyCounts(): number {
    return this.#keyCounts
  }

  /** Takes one request from what the account and the key have left; a refused one takes nothing. */
  take(access: Access): Taken {
    const now = performance.now()
    const counts = this.#countsOf(access)
    const { account, accountMax, keyMax, policy } = counts
    const key = counts.keys.get(access.keyId) ?? this.#countNewKey(counts, access, now)
    if (account.endsAt <= now) begin(account, now)
    if (key.endsAt <= now) begin(key, now)
    const refused = account.used >= accountMax ? 'account' : key.used >= keyMax ? 'key' : undefined
    if (refused === undefined) {
      this.#add(account, accountMax)
      this.#add(key, keyMax)
    }
    const accountLeft = secondsUntil(account.endsAt, now)
    const keyLeft = secondsUntil(key.endsAt, now)
    const state = `"account";r=${left(account, accountMax)};t=${accountLeft}, "key";r=${left(key, keyMax)};t=${keyLeft}`
    return refused === 'key'
      ? { refused, most: keyMax, secondsLeft: keyLeft, policy, state }
      : { refused, most: accountMax, secondsLeft: accountLeft, policy, state }
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

  /** A count is never dropped before its window ends: whoever uses many keys in turn would have no limit on any. */
  #countNewKey(counts: AccountCounts, { accountId, keyId }: Access, now: number): Count {
    const { keys, otherKeys } = counts
    if (keys.size >= limits.accountRateKeysTracked && counts.keysFullUntil <= now) {
      this.#keyCounts -= removeEnded(counts, now)
    }
    if (keys.size >= limits.accountRateKeysTracked) return otherKeys
    const count = newCount(`${accountId}:${keyId}`)
    keys.set(keyId, count)
    this.#keyCounts++
    // The account that was idle longest goes. This one was just used, so it is the last to go.
    while (this.#keyCounts > limits.rateKeysTracked) this.#accounts.pop()
    return count
  }

  #add(count: Count, most: number): void {
    count.used++
    count.untold++
    this.#shared?.emit(count, count.untold >= (most - count.used) / limits.rateUnsyncedDivisor)
  }
}

const windowSeconds = limits.rateWindowMs / 1000

/** A window that has ended would begin anew with the next request: without its count nothing is forgotten. */
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
  return { name, used: 0, untold: 0, endsAt: 0, telling: 'no' }
}

function begin(count: Count, now: number): void {
  count.used = 0
  count.untold = 0
  count.endsAt = now + limits.rateWindowMs
}

function left(count: Count, most: number): number {
  return Math.max(0, most - count.used)
}

function secondsUntil(moment: number, now: number): number {
  return Math.max(1, Math.ceil((moment - now) / 1000))
}
