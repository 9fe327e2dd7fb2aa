import type { Resource } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import type { Idempotency } from './idempotency.ts'

/** The record to change or delete. */
export interface Target {
  readonly scope: AccountScope
  readonly resource: Resource
  readonly id: string
  /** The ETags of If-Match, of which the record must have one; undefined if any state will do. */
  readonly etags: readonly string[] | undefined
  readonly idempotency: Idempotency | undefined
}

export interface PatchRow {
  /** The version of the record before the write; null if there is no record. */
  readonly version_before: string | null
  /** Null if nothing was changed. */
  readonly lineage: string | null
  readonly version: string | null
  readonly record: string | null
}

export interface DeleteRow {
  readonly version_before: string | null
  readonly deleted: boolean
}
