import { LRUCache } from 'lru-cache'
import { limits } from '../limits.ts'
import type { Access } from './checks.ts'
import type { Count, SharedCounts } from './shared-counts.ts'

interface AccountCounts {
  readonly account: Count
  readonly keys: Map<string, Count>
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
export class Rates {
  readonly #perMinute: { readonly account: number; readonly key: number }
  readonly #shared: SharedCounts | undefined
  readonly #accounts = new LRUCache<string, AccountCounts>({ max: limits.rateAccountsKept })

  constructor(perMinute: { account: number; key: number }, shared?: SharedCounts) {
    this.#perMinute = perMinute
    this.#shared = shared
  }

  /** Takes one request from what the account and the key have left; a refused one takes nothing. */
  take(access: Access): Taken {
    const now = performance.now()
    const counts = this.#countsOf(access)
    const { account, accountMax, keyMax, policy } = counts
    const key = keyCount(counts, access)
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
      counts = { account: newCount(accountId), keys: new Map(), accountMax: 0, keyMax: 0, policy: '' }
      this.#accounts.set(accountId, counts)
    }
    if (counts.accountMax !== accountMax || counts.keyMax !== keyMax) {
      counts.accountMax = accountMax
      counts.keyMax = keyMax
      counts.policy = `"account";q=${accountMax};w=${windowSeconds}, "key";q=${keyMax};w=${windowSeconds}`
    }
    return counts
  }

  #add(count: Count, most: number): void {
    count.used++
    count.untold++
    this.#shared?.tell(count, count.untold >= (most - count.used) / limits.rateUntoldShare)
  }
}

const windowSeconds = limits.rateWindowMs / 1000

function keyCount({ keys }: AccountCounts, { accountId, keyId }: Access): Count {
  let count = keys.get(keyId)
  if (count === undefined) {
    // Keys come and go; those in use are counted anew, at worst from what all processes know.
    if (keys.size >= limits.rateKeysKept) keys.clear()
    count = newCount(`${accountId}:${keyId}`)
    keys.set(keyId, count)
  }
  return count
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
