import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limits } from '../limits.ts'
import type { Access } from './key-verifier.ts'
import { RateLimiter } from './rate-limiter.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const access = (accountId: string, keyId: string, account = 0, key = 0): Access => ({
  accountId,
  keyId,
  scopes: new Set(),
  requestsPerMinute: account,
  keyRequestsPerMinute: key,
})

const refusals = (rateLimiter: RateLimiter, from: Access, times: number) =>
  Array.from({ length: times }, () => rateLimiter.take(from).refused ?? 'taken')

it('an account has so many requests a minute, and new ones after it', () => {
  const rateLimiter = new RateLimiter({ account: 3, key: 3 })
  expect(refusals(rateLimiter, access('1', 'a'), 5)).toEqual([
    'taken',
    'taken',
    'taken',
    'account',
    'account',
  ])
  vi.advanceTimersByTime(59_999)
  expect(rateLimiter.take(access('1', 'a'))).toMatchObject({ refused: 'account', most: 3, secondsLeft: 1 })
  vi.advanceTimersByTime(1)
  expect(rateLimiter.take(access('1', 'a')).refused).toBeUndefined()
})

it('each key has its own, and all of them together have those of the account', () => {
  const rateLimiter = new RateLimiter({ account: 5, key: 2 })
  expect(refusals(rateLimiter, access('1', 'a'), 3)).toEqual(['taken', 'taken', 'key'])
  expect(refusals(rateLimiter, access('1', 'b'), 3)).toEqual(['taken', 'taken', 'key'])
  expect(refusals(rateLimiter, access('1', 'c'), 2)).toEqual(['taken', 'account'])
  expect(refusals(rateLimiter, access('2', 'a'), 3)).toEqual(['taken', 'taken', 'key'])
})

it('the limits of the account itself come before those of the deployment, from the next request on', () => {
  const rateLimiter = new RateLimiter({ account: 5, key: 5 })
  expect(rateLimiter.take(access('1', 'a')).policy).toBe('"account";q=5;w=60, "key";q=5;w=60')
  expect(rateLimiter.take(access('1', 'a', 10, 4)).policy).toBe('"account";q=10;w=60, "key";q=4;w=60')
  expect(refusals(rateLimiter, access('1', 'a', 10, 4), 3)).toEqual(['taken', 'taken', 'key'])
  expect(refusals(rateLimiter, access('1', 'b', 4), 1)).toEqual(['account'])
})

it('a key cannot have more than its account', () => {
  expect(new RateLimiter({ account: 5, key: 50 }).take(access('1', 'a')).policy).toBe(
    '"account";q=5;w=60, "key";q=5;w=60',
  )
})

it('says what is left and for how long, each for itself', () => {
  const rateLimiter = new RateLimiter({ account: 9, key: 3 })
  expect(rateLimiter.take(access('1', 'a')).state).toBe('"account";r=8;t=60, "key";r=2;t=60')
  vi.advanceTimersByTime(20_500)
  expect(rateLimiter.take(access('1', 'b')).state).toBe('"account";r=7;t=40, "key";r=2;t=60')
  refusals(rateLimiter, access('1', 'a'), 5)
  expect(rateLimiter.take(access('1', 'a')).state).toBe('"account";r=5;t=40, "key";r=0;t=40')
})

it('a key has its limit also where the account uses all its keys in turn', () => {
  const keys = Array.from({ length: limits.keysValidMax }, (_, n) => `key-${n}`)
  const rateLimiter = new RateLimiter({ account: 1_000_000, key: 3 })
  const taken = new Map<string, number>()
  for (let round = 0; round < 10; round++) {
    for (const key of keys) {
      if (rateLimiter.take(access('1', key)).refused === undefined) taken.set(key, (taken.get(key) ?? 0) + 1)
    }
  }
  expect(new Set(taken.values())).toEqual(new Set([3]))
  vi.advanceTimersByTime(limits.rateWindowMs)
  expect(rateLimiter.take(access('1', 'key-7')).refused).toBeUndefined()
})

it('keys beyond those that are counted apart share one limit, until a window of the others ends', () => {
  const rateLimiter = new RateLimiter({ account: 1_000_000, key: 3 })
  for (const minute of ['first', 'second', 'third']) {
    for (let n = 0; n < limits.accountRateKeysTracked; n++) rateLimiter.take(access('1', `${minute}-${n}`))
    const more = Array.from(
      { length: 500 },
      (_, n) => rateLimiter.take(access('1', `${minute}-more-${n}`)).refused,
    )
    expect(more.filter((refused) => refused === undefined)).toHaveLength(3)
    expect(refusals(rateLimiter, access('1', `${minute}-0`), 3)).toEqual(['taken', 'taken', 'key'])
    vi.advanceTimersByTime(limits.rateWindowMs)
    expect(refusals(rateLimiter, access('1', `${minute}-more-1`), 4)).toEqual([
      'taken',
      'taken',
      'taken',
      'key',
    ])
    vi.advanceTimersByTime(limits.rateWindowMs)
  }
})

it('the counts of all accounts together are bounded, and an account in use keeps its own', () => {
  const rateLimiter = new RateLimiter({ account: 1_000_000, key: 1 })
  const accounts = 2 * Math.ceil(limits.rateKeysTracked / limits.accountRateKeysTracked)
  rateLimiter.take(access('busy', 'a'))
  for (let account = 0; account < accounts; account++) {
    for (let n = 0; n < limits.accountRateKeysTracked; n++)
      rateLimiter.take(access(String(account), `key-${n}`))
    expect(rateLimiter.take(access('busy', 'a')).refused).toBe('key')
  }
  expect(rateLimiter.keyCounts).toBeLessThanOrEqual(limits.rateKeysTracked)
  expect(rateLimiter.keyCounts).toBeGreaterThan(limits.rateKeysTracked / 2)
})
