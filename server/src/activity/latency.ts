import { limits } from '../limits.ts'

const ratio = Math.log(limits.latencyBucketRatio)

/** Class 0 is below the first border; class n lies between border n − 1 and border n, each a tenth above the last. */
export function latencyClass(ms: number): number {
  if (ms < limits.latencyBucketFirstMs) return 0
  const above = Math.floor(Math.log(ms / limits.latencyBucketFirstMs) / ratio) + 1
  return Math.min(above, limits.latencyBucketsMax)
}
