import { Failure, internalError } from '../errors/errors.ts'
import { type ChangesRow, type ChangesStart, changesStatement } from '../query/sql/changes-statement.ts'
import type { AccountScope } from '../scope.ts'
import type { StateStatement } from '../sql.ts'
import { currentLineage, type Lineages, lineageEnd, type TallyState } from '../tally-state.ts'
import type { ChangesQuery, Since } from './changes-query.ts'
import { encodeCursor, type FeedIdentity, type FeedPosition, idMax } from './cursor.ts'

/** A page of the feed, and the state of the data that it shows. */
export interface FeedPage extends TallyState {
  readonly count: number
  /** Whether a page follows now. */
  readonly more: boolean
  /** Where the next page begins, and its cursor. */
  readonly end: FeedPosition
  readonly cursor: string
  /** JSON objects from PostgreSQL, separated by commas, which are not parsed. */
  readonly changes: string
}

/** A version that no tally reaches. */
const versionMax = idMax

/** Reads the page that begins at `since`. */
export async function readFeedPage(
  run: (statement: StateStatement) => Promise<ChangesRow[]>,
  scope: AccountScope,
  query: ChangesQuery,
  since: Since,
  separator = ',',
): Promise<FeedPage> {
  const [row] = await run(changesStatement(scope, query.plan, startOf(since), separator))
  if (row === undefined) throw internalError()
  const position = typeof since === 'string' ? since : validPosition(row, since)
  if (position !== since) return readFeedPage(run, scope, query, position, separator)
  return pageOf(query.feed, query.plan.limit, since, row)
}

/** From the beginning every record is new, and no deletion is needed. From now on there is nothing yet. */
function startOf(since: Since): ChangesStart {
  if (since === 'beginning') return { version: '0', id: '0', base: String(versionMax) }
  if (since === 'now') return { version: String(versionMax), id: String(idMax), base: String(versionMax) }
  return { version: String(since.version), id: String(since.id), base: String(since.base) }
}

/**
 * The position to read from, in the terms of the current data; throws if changes after it may be missing. After a failover that
 * lost writes, the versions from the end of the lineage on have been used again. So deletions after that end are needed, even if
 * the client began to read at a later version of the lost writes.
 */
export function validPosition(row: Lineages, position: FeedPosition): FeedPosition {
  const end = lineageEnd(row, String(position.lineage))
  if (end === undefined || position.version > BigInt(end)) throw cursorExpired()
  const base = min(position.base, BigInt(end))
  if (max(position.version, base) < BigInt(row.changes_from)) throw cursorExpired()
  return base === position.base ? position : { ...position, base }
}

/** `since` is the position that the page was read from. */
function pageOf(feed: FeedIdentity, limit: number, since: Since, row: ChangesRow): FeedPage {
  const { epoch, version, xid, changes } = row
  const count = Number(row.count)
  const [endVersion, endId, more] = endOf(limit, row)
  const base = typeof since === 'string' ? BigInt(version) : since.base
  const end: FeedPosition = { lineage: BigInt(currentLineage(row)), version: endVersion, id: endId, base }
  return { epoch, version, xid, count, more, end, cursor: encodeCursor(feed, end), changes }
}

/** A page that is not full has shown everything up to the version of its snapshot, unless a filter examined only a part. */
function endOf(limit: number, row: ChangesRow): [bigint, bigint, boolean] {
  if (Number(row.count) === limit && row.last_version !== null && row.last_id !== null)
    return [BigInt(row.last_version), BigInt(row.last_id), row.more === 't']
  if (row.bound_version !== null && row.bound_id !== null)
    return [BigInt(row.bound_version), BigInt(row.bound_id), true]
  return [BigInt(row.version), idMax, false]
}

export function feedBody({ changes, count, more, cursor }: FeedPage): string {
  return `{"data":[${changes}],"meta":{"count":${count},"more":${more}},"cursor":"${cursor}"}`
}

/** The cursor of everything that a snapshot shows, such as an export. */
export function snapshotCursor(feed: FeedIdentity, row: Pick<Lineages, 'version' | 'lineages'>): string {
  const version = BigInt(row.version)
  return encodeCursor(feed, { lineage: BigInt(currentLineage(row)), version, id: idMax, base: version })
}

export function cursorExpired(): Failure {
  return new Failure(
    'cursor_expired',
    'Some changes after this cursor are no longer stored: it is older than 30 days, or the data was restored. ' +
      'Start again with an export, or without since; records that you do not receive then no longer exist.',
  )
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
