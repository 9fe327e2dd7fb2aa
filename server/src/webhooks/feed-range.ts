import type { AccountReads } from '../accounts/account-reads.ts'
import type { Resource } from '../catalog/resources.ts'
import { type ChangesQuery, changesQuery } from '../changes/changes-query.ts'
import type { FeedPosition } from '../changes/cursor.ts'
import { cursorExpired, type FeedPage, readFeedPage } from '../changes/feed-page.ts'
import { internalError } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import { recordsById } from '../query/sql/by-id.ts'
import type { ChangesRow } from '../query/sql/changes-statement.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type StateStatement, sql, value } from '../sql.ts'
import { epochColumn, lineageEnd } from '../tally-state.ts'
import type { Webhook } from './webhook.ts'

/** Changes that are sent in one message. */
export interface FeedRange {
  /** JSON objects. */
  readonly changes: readonly string[]
  readonly end: FeedPosition
  /** Whether more changes follow now. */
  readonly more: boolean
}

export interface RangeOptions {
  /** The end of a range that was sent before. */
  readonly until: FeedPosition | undefined
  readonly limits: Limits
  readonly signal: AbortSignal
}

/** The query of the change feed for an endpoint. Throws a `Failure` with the faults of its filter and fields. */
export function queryOf(
  scope: AccountScope,
  resource: Resource,
  { filter, fields }: Pick<Webhook, 'filter' | 'fields'>,
  changesMax: number,
): ChangesQuery {
  const parameters = [`limit=${changesMax}`]
  if (filter !== null) parameters.push(`filter=${encodeURIComponent(filter)}`)
  if (fields !== null) parameters.push(`fields=${encodeURIComponent(fields)}`)
  return changesQuery(scope, resource, [parameters.join('&'), 'body'])
}

/**
 * The changes after a position, as they are now, up to `until`: the end of a range that was sent before. Records that have
 * changed since then are no longer part of that range, but of a later one.
 */
export async function readRange(
  accountReads: AccountReads,
  scope: AccountScope,
  query: ChangesQuery,
  from: FeedPosition,
  options: RangeOptions,
): Promise<FeedRange> {
  const { until, limits, signal } = options
  const read = async (statement: StateStatement) => {
    const rows = await accountReads.readChanges<ChangesRow>(scope, statement, signal)
    const [row] = rows
    const end = until && row && lineageEnd(row, String(until.lineage))
    // Writes of the range were lost in a failover, and the receiver may have seen them.
    if (until !== undefined && (end === undefined || until.version > BigInt(end))) throw cursorExpired()
    return rows
  }
  const page = await readFeedPage(read, scope, query, from, '\n')
  const range = rangeOf(page, until, limits.webhookBodyBytesMax)
  const deleted = range.changes.filter((change) => change.startsWith('{"change":"deleted"'))
  if (until === undefined || deleted.length === 0) return range
  const statement = supersededStatement(
    scope,
    query,
    deleted.map((change) => positionIn(change).id),
    until,
  )
  const rows = await accountReads.readChanges<{ epoch: string; id: string }>(scope, statement, signal)
  const superseded = new Set(rows.map(({ id }) => BigInt(id)))
  const changes = range.changes.filter(
    (change) => !(deleted.includes(change) && superseded.has(positionIn(change).id)),
  )
  return { ...range, changes }
}

/**
 * Of these deleted ids, those that the first attempt may have sent again as records: created again in the same range, and changed or
 * deleted since. Without them a retry would send the earlier deletion alone, and the record would go back to an earlier version.
 * What has become of them follows in a later range.
 */
function supersededStatement(
  { accountId }: AccountScope,
  { feed }: ChangesQuery,
  ids: readonly bigint[],
  { version, id }: FeedPosition,
): StateStatement {
  const account = value(accountId)
  const deleted = value(ids.map(String))
  const end = sql`(${value(String(version))}::bigint, ${value(String(id))}::bigint)`
  return sql`select ${epochColumn}, s.id from (
select r.id from ${recordsById(identifier(feed.resource), account, sql`${deleted}::bigint[]`, sql`id, version, created_version`)}
where (r.version, r.id) > ${end} and (r.created_version, r.id) <= ${end}
union all
select d.id from tombstone d where d.account_id = ${account}::bigint and d.resource = ${value(feed.resource)}::text
  and (d.version, d.id) > ${end} and d.id = any(${deleted}::bigint[])
) s`.statement('webhook')
}

/** Truncated at `until` and at the maximum size. */
export function rangeOf(
  page: Pick<FeedPage, 'changes' | 'end' | 'more'>,
  until: FeedPosition | undefined,
  bytesMax: number,
): FeedRange {
  const changes = new Map<bigint, string>()
  let last = page.end
  let bytes = 0
  for (const change of page.changes === '' ? [] : page.changes.split('\n')) {
    const position = { ...page.end, ...positionIn(change) }
    if (until !== undefined && isAfter(position, until)) break
    bytes += Buffer.byteLength(change) + 1
    // A record larger than a message is sent alone.
    if (bytes > bytesMax && changes.size > 0) return { changes: [...changes.values()], end: last, more: true }
    // A record that was deleted and created again is sent once, in the place of its last change.
    changes.delete(position.id)
    changes.set(position.id, change)
    last = position
  }
  const end = until ?? page.end
  return { changes: [...changes.values()], end, more: until === undefined ? page.more : true }
}

const identity = /^\{"change":"[a-z]{1,20}","id":(\d{1,19}),"version":(\d{1,19})[,}]/

function positionIn(change: string): { version: bigint; id: bigint } {
  const [, id, version] = identity.exec(change) ?? []
  if (id === undefined || version === undefined) throw internalError()
  return { version: BigInt(version), id: BigInt(id) }
}

export function isAfter(one: FeedPosition, other: FeedPosition): boolean {
  return one.version === other.version ? one.id > other.id : one.version > other.version
}
