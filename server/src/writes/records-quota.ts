import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'

/** The total of the tally, which the write has locked, is compared with the quota: no record is counted. */
export function recordsExhausted({ plural }: Resource, recordsMax: number): Failure {
  return new Failure(
    'records_exhausted',
    `The account may have ${recordsMax} ${plural}, its quota, and this write would exceed it. Delete some, or ask the operator for a higher quota.`,
  )
}

/** `max` undefined: the operator's imports have no quota. */
export function requireRecords(resource: Resource, total: number, max = Number.POSITIVE_INFINITY): void {
  if (total > max) throw recordsExhausted(resource, max)
}
