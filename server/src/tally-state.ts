import { hash } from 'node:crypto'
import { type Fragment, sql, state } from './sql.ts'

/**
 * Identifies the content of one account's resource. Cached data and an `ETag` are valid only while all three values are
 * the same.
 */
export interface TallyState {
  /** Identifies the server from which the row was read, and its start. Versions are unique only within one epoch. */
  readonly epoch: string
  readonly version: string
  /** The transaction that wrote the tally row. After a restore a version can repeat, a transaction id cannot. */
  readonly xid: string
}

/** Also has the number of all records of the resource. */
export interface Tally extends TallyState {
  readonly total: number
  /** The version of the fields that the account has declared; 0 if it never has. */
  readonly schema: number
  /** The server that wrote the row, as in `ReplicaState`. Only read if there are replicas. */
  readonly writer?: string | undefined
}

/**
 * The start time of the server and its timeline, as 24 hexadecimal digits. A restart, a failover and a restore of the data
 * directory change it, even if two servers were promoted to the same timeline number. It is an expression per row, not a
 * sub-select, so that it is evaluated on the server of the row. On a standby it fails with SQLSTATE 55000.
 */
export const epoch = sql`encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`

/** False after any write that was not made by `tickTally`: a restore, psql, or a process of the previous version. */
export const isOwnWrite = sql`t.writer_xid = t.xmin`
/** Null if the last write was not made by `tickTally`. */
export const writerColumn = sql`case when ${isOwnWrite} then t.writer_epoch end`

/** The columns of `ReplicaState`, for a statement in which the tally table has the alias `t`. */
export const replicaColumns = sql`${writerColumn} as writer, t.version, t.xmin::text as xid`

/** What contains the epoch, which some servers must evaluate in another form. The tally table has the alias `t`. */
export function withEpoch(form: Fragment) {
  /** The lineage that begins with the row as it is. Its reads and its next write compute the same value. */
  const nextLineage = sql`hashtextextended(${form} || ' ' || t.xmin::text || ' ' || t.version::text, 0)`
  return {
    nextLineage,
    /** A hash of the epoch, as the tally stores it with each write. */
    writerEpoch: sql`hashtextextended(${form}, 0)`,
    /** The columns of `TallyState`. A replica returns `ReplicaState` instead. */
    stateColumns: state(sql`${form} as epoch, t.version, t.xmin::text as xid`, replicaColumns),
    /** The columns of `Lineages` except the version. */
    lineageColumns: sql`(case when ${isOwnWrite} then t.lineages else array[${nextLineage}] end)::text as lineages,
  (case when ${isOwnWrite} then t.lineage_starts else array[t.version] end)::text as lineage_starts,
  case when ${isOwnWrite} then t.changes_from else t.version end as changes_from`,
  }
}

export type EpochColumns = ReturnType<typeof withEpoch>

export const plainEpoch: EpochColumns = withEpoch(epoch)
export const { nextLineage, writerEpoch, stateColumns, lineageColumns } = plainEpoch

/** For a statement that reads no tally, or several in one row. A replica has no epoch. */
export const epochColumn = state(sql`${epoch} as epoch`, sql`null as epoch`)

/**
 * A version identifies a state of the data only within its lineage, an uninterrupted series of writes. After a failover that
 * lost writes, or a restore, versions repeat. A position of a client (a cursor, the ETag of a record) therefore has both.
 */
export interface Position {
  readonly lineage: string
  readonly version: string
}

/** The lineages of a tally row and the version at which each began, newest first. */
export interface Lineages {
  readonly version: string
  /** As PostgreSQL writes an array of bigint: `{2,1}`. */
  readonly lineages: string
  readonly lineage_starts: string
  /** The change feed has all deletions after this version. */
  readonly changes_from: string
}

/** `lineageColumns` if the last write was made by `tickTally`. These can be read on a replica, too. */
export const storedLineageColumns = sql`t.lineages::text as lineages, t.lineage_starts::text as lineage_starts, t.changes_from`

/** The newest lineage; null if the last write was not made by `tickTally`. */
export const lineageColumn = sql`case when ${isOwnWrite} then t.lineages[1] end as lineage`

/** The newest lineage, as `currentLineage` of `lineageColumns`. */
export const currentLineageColumn = sql`case when ${isOwnWrite} then t.lineages[1] else ${nextLineage} end`

/** The same for a statement that may run on a replica, whose row is accepted only if the last write was made by `tickTally`. */
export const currentLineageState = state(currentLineageColumn, sql`t.lineages[1]`)

/** The newest lineage. */
export function currentLineage({ lineages }: Pick<Lineages, 'lineages'>): string {
  return bigints(lineages)[0] ?? '0'
}

/** Whether the data had this state. A position of an earlier lineage counts up to the version at which the next one began. */
export function isValidPosition(tally: Lineages, { lineage, version }: Position): boolean {
  const end = lineageEnd(tally, lineage)
  return end !== undefined && BigInt(version) <= BigInt(end)
}

/** The last version of a lineage that the current data has in common with it. Undefined if the lineage is unknown. */
export function lineageEnd(tally: Lineages, lineage: string): string | undefined {
  const index = bigints(tally.lineages).indexOf(lineage)
  if (index < 0) return undefined
  return index === 0 ? tally.version : bigints(tally.lineage_starts)[index - 1]
}

function bigints(array: string): string[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',')
}

export function isSameState(one: TallyState, other: TallyState): boolean {
  return one.version === other.version && one.xid === other.xid && one.epoch === other.epoch
}

/** Whether `other` is a later state of the same epoch. */
export function isOlder(one: TallyState, other: TallyState): boolean {
  return one.epoch === other.epoch && BigInt(one.version) < BigInt(other.version)
}

/** Whether the state is the other one, or a later one of the same epoch. */
export function isAtLeast(one: TallyState, other: TallyState): boolean {
  if (one.epoch !== other.epoch) return false
  return one.version === other.version ? one.xid === other.xid : BigInt(one.version) > BigInt(other.version)
}

/** The state as clients see it. Hashed, because start time and transaction ids would reveal the activity of other accounts. */
export function stateName({ epoch: server, version, xid }: TallyState): string {
  return `${hash('sha256', `${server} ${version} ${xid}`, 'hex').slice(0, 12)}-${version}`
}

/**
 * The state of a row on a replica, which has no epoch of its own. Instead it names the server whose transaction `xid` wrote the
 * row. If that and the version are the same as on the primary, one transaction wrote both rows, so the data is the same,
 * whatever timeline the replica follows.
 */
export interface ReplicaState extends Pick<TallyState, 'version' | 'xid'> {
  /** A hash of the epoch of that server. Null if it is not known. */
  readonly writer: string | null
}

/** How a row of a replica compares with what the verification has read from the primary. */
export type ReplicaStanding = 'same' | 'later' | 'behind' | 'diverged' | 'unproven'

export function compareReplica(row: ReplicaState, tally: Tally): ReplicaStanding {
  const [has, needs] = [BigInt(row.version), BigInt(tally.version)]
  if (has < needs) return 'behind'
  if (row.writer === null) return 'unproven'
  if (has > needs) return 'later'
  if (tally.writer === undefined) return 'unproven'
  return row.writer === tally.writer && row.xid === tally.xid ? 'same' : 'diverged'
}

/**
 * The ETag of one record: its version, the lineage of that version, and a hash of its id and of the fields that the response
 * has. It changes only when this record changes, or when a failover or restore begins a new lineage.
 */
export function recordEtag({ version, lineage }: Position, id: string, fieldsHash: string): string {
  return `"${version}-${BigInt.asUintN(64, BigInt(lineage)).toString(16).padStart(16, '0')}-${id}-${fieldsHash}"`
}

/** The position of a record's ETag, strong or weak; undefined if it is not an ETag of the record with this id. */
export function positionOfEtag(etag: string, id: string): Position | undefined {
  const [, version, lineage, etagId] =
    /^(?:W\/)?"([1-9]\d{0,18}|0)-([0-9a-f]{16})-([1-9]\d{0,15})-[\w-]{16}"$/.exec(etag) ?? []
  if (version === undefined || lineage === undefined || etagId !== id) return undefined
  return { version, lineage: BigInt.asIntN(64, BigInt(`0x${lineage}`)).toString() }
}
