import { limits } from '../limits/limits.ts'

const logRatio = Math.log(limits.latencyBucketRatio)

/** Bucket 0 is below the first boundary. Bucket n is between boundaries n − 1 and n; each boundary is a tenth above the one before. */
export function latencyBucket(ms: number): number {
  if (ms < limits.latencyBucketFirstMs) return 0
  const bucket = Math.floor(Math.log(ms / limits.latencyBucketFirstMs) / logRatio) + 1
  return Math.min(bucket, limits.latencyBucketsMax)
}
