import { resources } from '../catalog/resources.ts'
import { sql } from '../sql.ts'

/**
 * An archive has one account as NDJSON, from one snapshot. The first line names the format and the account. Each table
 * begins with a line that names its columns, and has one line per row, without `account_id`. The last line has the number of
 * rows and the SHA-256 of all bytes before it:
 *
 *     {"$archive":{"format":1,"version":"0.1.0","account":"acme","exported_at":"2026-11-15T22:30:00.000Z"}}
 *     {"$table":{"name":"product","columns":["id","version","name",…]}}
 *     {"id":1,"version":1,"name":"Hex bolt",…}
 *     {"$end":{"rows":1,"sha256":"…"}}
 *
 * No column begins with `$`, so these lines differ from every row.
 */
export interface ArchiveStart {
  readonly format: number
  /** The version of Quartermaster that exported the account. */
  readonly version: string
  readonly account: string
  readonly exported_at: string
}

export interface ArchiveTable {
  readonly name: string
  readonly columns: readonly string[]
}

export interface ArchiveEnd {
  readonly rows: number
  readonly sha256: string
}

export const archiveFormat = 1

/**
 * In the order in which they are archived: the account and its tallies come before what depends on them. The request log and
 * usage are not archived. They expire, and say nothing about the data.
 */
export const archiveTables: readonly string[] = [
  'account',
  'tally',
  'api_key',
  'cors_origins',
  'idempotency',
  'audit',
  'field',
  ...Object.keys(resources),
]

/** The archive, or the system it is restored into, must be corrected before it can be restored. */
export class ArchiveError extends Error {}

/** The columns of a table except `account_id`, in their order. Parameter: the name of the table. */
export const columnsText = sql`select attname::text as name from pg_attribute
where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attname <> 'account_id'
order by attnum`.statement().text

/**
 * A full scan would read the records of all accounts. Times are in UTC, so that an archive does not depend on the server's
 * time zone.
 */
export const archiveSettings = 'set local enable_seqscan = off; set local timezone = UTC'
