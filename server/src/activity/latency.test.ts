import { expect, it } from 'vitest'
import { limits } from '../limits.ts'
import { latencyClass } from './latency.ts'

/** The middle of a class, as the list of usage computes it in SQL. */
const middle = (number: number) =>
  limits.latencyBucketFirstMs * limits.latencyBucketRatio ** Math.max(number - 0.5, 0)

it('puts every latency into a class whose middle is within 5 % of it', () => {
  for (let ms = limits.latencyBucketFirstMs; ms < 500_000; ms *= 1.0137) {
    expect(Math.abs(middle(latencyClass(ms)) / ms - 1)).toBeLessThan(0.05)
  }
})

it('has an end at both sides', () => {
  expect(latencyClass(0)).toBe(0)
  expect(latencyClass(0.049)).toBe(0)
  expect(latencyClass(1e12)).toBe(limits.latencyBucketsMax)
})
