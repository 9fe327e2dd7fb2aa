import type { ResourceName } from '../catalog/resources.ts'
import { keyIsValid } from '../key-state.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { placeholder, sql } from '../sql.ts'
import { epoch, epochColumn, type Tally, type TallyState } from '../tally-state.ts'

/** A tally whose changes clients wait for, at its last known state. */
export interface WatchedTally extends AccountScope {
  readonly resource: ResourceName
  readonly known: WatchedState
}

/** Also has the version of the fields that the account has declared. */
export type WatchedState = Pick<Tally, keyof TallyState | 'schema'>

export interface KeyOfAccount extends AccountScope {
  readonly keyId: string
}

interface CheckRow {
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
  sql`select ${epochColumn}, string_agg(concat_ws(' ', q.n, t.version, t.xmin, ${epoch}, t.schema), ',') as found
from unnest(${accounts}::bigint[], ${resourceNames}::text[], ${versions}::bigint[], ${xids}::text[])
  with ordinality q(account_id, resource, version, xid, n)
join tally t on t.account_id = q.account_id and t.resource = q.resource
where t.account_id = any(${accounts}::bigint[]) and (t.version <> q.version or t.xmin::text <> q.xid)`.template(
    [accounts, resourceNames, versions, xids],
    'changes_check',
    'generic',
  )

type Changed<Watched> = [Watched, WatchedState]

/** The tallies that have changed, each with its new state. */
export async function changedTallies<Watched extends WatchedTally>(
  database: Database,
  watched: readonly Watched[],
): Promise<Changed<Watched>[]> {
  const { checkAccounts, form } = await database.connect()
  return await checkAccounts(watched, async (some) => {
    const values = [
      arrayOf(some.map(({ accountId }) => accountId)),
      arrayOf(some.map(({ resource }) => resource)),
      arrayOf(some.map(({ known }) => known.version)),
      arrayOf(some.map(({ known }) => known.xid)),
    ]
    return (await form(readChanged)(database, values)).flatMap(({ n, schema, ...state }) => {
      const tally = some[Number(n) - 1]
      return tally === undefined
        ? []
        : [[tally, { ...state, schema: Number(schema) }] satisfies Changed<Watched>]
    })
  })
}

/** The state of a tally, and its position in the list of those watched, from 1 on. */
export interface ChangedRow extends TallyState {
  readonly n: string
  readonly schema: string
}

/** `values`: accounts, resources, and the versions and transactions of the last known states. */
export async function readChanged(database: Database, values: readonly string[]): Promise<ChangedRow[]> {
  const [row] = await database.read<CheckRow>(changed(values))
  return entriesOf(row?.found).map((entry) => {
    const [n = '', version = '', xid = '', server = '', schema = ''] = entry.split(' ')
    return { n, version, xid, epoch: server, schema }
  })
}

const valid = sql`select ${epochColumn}, string_agg(q.n::text, ',') as found
from unnest(${accounts}::bigint[], ${keyIds}::text[]) with ordinality q(account_id, key_id, n)
join api_key k on k.account_id = q.account_id and k.key_id = q.key_id
join account a on a.account_id = k.account_id
where k.account_id = any(${accounts}::bigint[]) and a.status = 'active' and ${keyIsValid}`.template(
  [accounts, keyIds],
  'changes_check',
  'generic',
)

/** For each key whether it is still accepted. */
export async function checkKeys<Key extends KeyOfAccount>(
  database: Database,
  keys: readonly Key[],
): Promise<{ readonly key: Key; readonly isValid: boolean }[]> {
  const { checkAccounts } = await database.connect()
  return await checkAccounts(keys, async (some) => {
    const statement = valid([
      arrayOf(some.map(({ accountId }) => accountId)),
      arrayOf(some.map(({ keyId }) => keyId)),
    ])
    const [row] = await database.read<CheckRow>(statement)
    if (row === undefined) return []
    const found = new Set(entriesOf(row.found))
    return some.map((key, i) => ({ key, isValid: found.has(String(i + 1)) }))
  })
}

function entriesOf(found: string | null | undefined): string[] {
  return found == null ? [] : found.split(',')
}

/** An array literal of PostgreSQL. Numbers, key ids and names of resources need no quotes. */
function arrayOf(elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}
