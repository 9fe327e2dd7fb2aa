import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { latencyBucket } from './usage.ts'

/** The midpoint of a bucket, as the statement of the usage list computes it. */
const midpoint = (bucket: number) =>
  limits.latencyBucketFirstMs * limits.latencyBucketRatio ** Math.max(bucket - 0.5, 0)

it('assigns every latency to a bucket whose midpoint is within 5 % of it', () => {
  for (let ms = limits.latencyBucketFirstMs; ms < 500_000; ms *= 1.0137) {
    expect(Math.abs(midpoint(latencyBucket(ms)) / ms - 1)).toBeLessThan(0.05)
  }
})

it('assigns latencies out of range to the first or the last bucket', () => {
  expect(latencyBucket(0)).toBe(0)
  expect(latencyBucket(0.049)).toBe(0)
  expect(latencyBucket(1e12)).toBe(limits.latencyBucketsMax)
})
