import type { ResourceName } from '../catalog/resources.ts'
import { keyIsValid } from '../key-state.ts'
import type { AccountScope } from '../scope.ts'
import { placeholder, type Statement, sql } from '../sql.ts'
import { epoch, type TallyState } from '../tally-state.ts'

/** A tally whose changes clients wait for, at its last known state. */
export interface WatchedTally extends AccountScope {
  readonly resource: ResourceName
  readonly known: TallyState
}

export interface KeyOfAccount extends AccountScope {
  readonly keyId: string
}

export interface CheckRow {
  /** Of the server that ran the statement. */
  readonly epoch: string
  /** One entry for each row found, separated by commas. */
  readonly found: string | null
}

const accounts = placeholder()
const resourceNames = placeholder()
const versions = placeholder()
const xids = placeholder()
const keyIds = placeholder()

/**
 * The tallies that differ from their last known state. The epoch is not compared: after a restart of the database without a write
 * there is nothing new to read. On the pool of long reads, because a thousand tallies take milliseconds, and statements on
 * a pipelined connection would wait behind them.
 */
const changed =
  sql`select ${epoch} as epoch, string_agg(concat_ws(' ', q.n, t.version, t.xmin, ${epoch}), ',') as found
from unnest(${accounts}::bigint[], ${resourceNames}::text[], ${versions}::bigint[], ${xids}::text[])
  with ordinality q(account_id, resource, version, xid, n)
join tally t on t.account_id = q.account_id and t.resource = q.resource
where t.account_id = any(${accounts}::bigint[]) and (t.version <> q.version or t.xmin::text <> q.xid)`.template(
    [accounts, resourceNames, versions, xids],
    'changes_check',
    'generic',
  )

export function changedTallies(watched: readonly WatchedTally[]): Statement {
  return changed([
    arrayOf(watched.map(({ accountId }) => accountId)),
    arrayOf(watched.map(({ resource }) => resource)),
    arrayOf(watched.map(({ known }) => known.version)),
    arrayOf(watched.map(({ known }) => known.xid)),
  ])
}

/** The tallies that have changed, each with its new state. */
export function changesOf<Watched extends WatchedTally>(
  { found }: CheckRow,
  watched: readonly Watched[],
): [Watched, TallyState][] {
  return entriesOf(found).flatMap((entry): [Watched, TallyState][] => {
    const [n, version = '', xid = '', server = ''] = entry.split(' ')
    const tally = watched[Number(n) - 1]
    return tally === undefined ? [] : [[tally, { epoch: server, version, xid }]]
  })
}

const valid = sql`select ${epoch} as epoch, string_agg(q.n::text, ',') as found
from unnest(${accounts}::bigint[], ${keyIds}::text[]) with ordinality q(account_id, key_id, n)
join api_key k on k.account_id = q.account_id and k.key_id = q.key_id
join account a on a.account_id = k.account_id
where k.account_id = any(${accounts}::bigint[]) and a.status = 'active' and ${keyIsValid}`.template(
  [accounts, keyIds],
  'changes_check',
  'generic',
)

/** The keys that are still accepted. */
export function validKeys(keys: readonly KeyOfAccount[]): Statement {
  return valid([arrayOf(keys.map(({ accountId }) => accountId)), arrayOf(keys.map(({ keyId }) => keyId))])
}

/** The indexes of the valid keys. */
export function validIndexes({ found }: CheckRow): ReadonlySet<number> {
  return new Set(entriesOf(found).map((n) => Number(n) - 1))
}

function entriesOf(found: string | null): string[] {
  return found === null ? [] : found.split(',')
}

/** An array literal of PostgreSQL. Numbers, key ids and names of resources need no quotes. */
function arrayOf(elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}
