import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limits } from '../../limits/limits.ts'
import type { Access } from '../verifications.ts'
import { RateLimiter } from './rate-limiter.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const access = (accountId: string, keyId: string, account = 0, key = 0): Access => ({
  accountId,
  keyId,
  scopes: new Set(),
  recordsMax: 0,
  requestsPerMinute: account,
  keyRequestsPerMinute: key,
})

const outcomes = (rateLimiter: RateLimiter, from: Access, times: number) =>
  Array.from({ length: times }, () => rateLimiter.take(from).exceeded ?? 'allowed')

it('limits the requests of an account in a window of a minute', () => {
  const rateLimiter = new RateLimiter({ account: 3, key: 3 })
  expect(outcomes(rateLimiter, access('1', 'a'), 5)).toEqual([
    'allowed',
    'allowed',
    'allowed',
    'account',
    'account',
  ])
  vi.advanceTimersByTime(59_999)
  expect(rateLimiter.take(access('1', 'a'))).toMatchObject({ exceeded: 'account', max: 3, secondsLeft: 1 })
  vi.advanceTimersByTime(1)
  expect(rateLimiter.take(access('1', 'a')).exceeded).toBeUndefined()
})

it('limits each key, and all keys of an account together', () => {
  const rateLimiter = new RateLimiter({ account: 5, key: 2 })
  expect(outcomes(rateLimiter, access('1', 'a'), 3)).toEqual(['allowed', 'allowed', 'key'])
  expect(outcomes(rateLimiter, access('1', 'b'), 3)).toEqual(['allowed', 'allowed', 'key'])
  expect(outcomes(rateLimiter, access('1', 'c'), 2)).toEqual(['allowed', 'account'])
  expect(outcomes(rateLimiter, access('2', 'a'), 3)).toEqual(['allowed', 'allowed', 'key'])
})

it('applies the limits of the account instead of the default, from the next request on', () => {
  const rateLimiter = new RateLimiter({ account: 5, key: 5 })
  expect(rateLimiter.take(access('1', 'a')).policy).toBe('"account";q=5;w=60, "key";q=5;w=60')
  expect(rateLimiter.take(access('1', 'a', 10, 4)).policy).toBe('"account";q=10;w=60, "key";q=4;w=60')
  expect(outcomes(rateLimiter, access('1', 'a', 10, 4), 3)).toEqual(['allowed', 'allowed', 'key'])
  expect(outcomes(rateLimiter, access('1', 'b', 4), 1)).toEqual(['account'])
})

it('limits a key to the limit of its account', () => {
  expect(new RateLimiter({ account: 5, key: 50 }).take(access('1', 'a')).policy).toBe(
    '"account";q=5;w=60, "key";q=5;w=60',
  )
})

it('reports remaining requests and seconds of the account and of the key', () => {
  const rateLimiter = new RateLimiter({ account: 9, key: 3 })
  expect(rateLimiter.take(access('1', 'a')).state).toBe('"account";r=8;t=60, "key";r=2;t=60')
  vi.advanceTimersByTime(20_500)
  expect(rateLimiter.take(access('1', 'b')).state).toBe('"account";r=7;t=40, "key";r=2;t=60')
  outcomes(rateLimiter, access('1', 'a'), 5)
  expect(rateLimiter.take(access('1', 'a')).state).toBe('"account";r=5;t=40, "key";r=0;t=40')
})

it('limits each key if the account alternates between all its keys', () => {
  const keys = Array.from({ length: limits.keysValidMax }, (_, n) => `key-${n}`)
  const rateLimiter = new RateLimiter({ account: 1_000_000, key: 3 })
  const allowed = new Map<string, number>()
  for (let round = 0; round < 10; round++) {
    for (const key of keys) {
      if (rateLimiter.take(access('1', key)).exceeded === undefined)
        allowed.set(key, (allowed.get(key) ?? 0) + 1)
    }
  }
  expect(new Set(allowed.values())).toEqual(new Set([3]))
  vi.advanceTimersByTime(limits.rateWindowMs)
  expect(rateLimiter.take(access('1', 'key-7')).exceeded).toBeUndefined()
})

it('limits keys beyond `accountRateKeysTracked` together, until the window of another key ends', () => {
  const rateLimiter = new RateLimiter({ account: 1_000_000, key: 3 })
  for (const minute of ['first', 'second', 'third']) {
    for (let n = 0; n < limits.accountRateKeysTracked; n++) rateLimiter.take(access('1', `${minute}-${n}`))
    const more = Array.from(
      { length: 500 },
      (_, n) => rateLimiter.take(access('1', `${minute}-more-${n}`)).exceeded,
    )
    expect(more.filter((exceeded) => exceeded === undefined)).toHaveLength(3)
    expect(outcomes(rateLimiter, access('1', `${minute}-0`), 3)).toEqual(['allowed', 'allowed', 'key'])
    vi.advanceTimersByTime(limits.rateWindowMs)
    expect(outcomes(rateLimiter, access('1', `${minute}-more-1`), 4)).toEqual([
      'allowed',
      'allowed',
      'allowed',
      'key',
    ])
    vi.advanceTimersByTime(limits.rateWindowMs)
  }
})

it('bounds the counts of all accounts, and drops those of the least recently used account', () => {
  const rateLimiter = new RateLimiter({ account: 1_000_000, key: 1 })
  const accounts = 2 * Math.ceil(limits.rateKeysTracked / limits.accountRateKeysTracked)
  rateLimiter.take(access('busy', 'a'))
  for (let account = 0; account < accounts; account++) {
    for (let n = 0; n < limits.accountRateKeysTracked; n++)
      rateLimiter.take(access(String(account), `key-${n}`))
    expect(rateLimiter.take(access('busy', 'a')).exceeded).toBe('key')
  }
  expect(rateLimiter.keyCounts).toBeLessThanOrEqual(limits.rateKeysTracked)
  expect(rateLimiter.keyCounts).toBeGreaterThan(limits.rateKeysTracked / 2)
})
