import type { Resource } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import type { Idempotency } from './idempotency.ts'
import type { KeyValue } from './record-keys.ts'

/** How a request names a record: by its id, or by the value of a unique field. */
export type RecordAddress = { readonly id: string } | { readonly key: KeyValue }

/** The record that a request names. */
export interface AddressedTarget {
  readonly scope: AccountScope
  readonly resource: Resource
  readonly author: string
  readonly address: RecordAddress
  /** The ETags of If-Match, of which the record must have one; undefined if any state will do. */
  readonly etags: readonly string[] | undefined
  readonly idempotency: Idempotency | undefined
}

/** The record to change or delete. */
export interface Target extends Omit<AddressedTarget, 'address'> {
  readonly id: string
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
