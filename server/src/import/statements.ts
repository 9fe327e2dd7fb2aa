import type { FieldType, RecordField } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import type { IdRange } from '../id-source.ts'
import { limits } from '../limits/limits.ts'
import { recordsById } from '../query/sql/by-id.ts'
import { keyOf, patchedOwn } from '../query/sql/field-columns.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../sql.ts'
import { deleteRecords, insertImages } from '../writes/journal.ts'
import { keyTable } from '../writes/record-keys.ts'
import { type LockedTally, tickTally } from '../writes/tick.ts'

/** The fields that have a column: the first ones of the resource. */
export function fieldColumns({ fields }: Resource): readonly RecordField[] {
  return fields.filter((field) => field.customKey === undefined)
}

const columnTypes: Record<FieldType, Fragment> = {
  integer: sql`bigint`,
  decimal: sql`numeric`,
  text: sql`text collate "C"`,
  boolean: sql`boolean`,
  timestamp: sql`timestamptz(3)`,
}

/**
 * `import_staging`: the rows of a batch whose records exist already. With its primary key, the join is cheap in either
 * direction. `field_mask` is a bit mask of the fields that the row contains. `import_ids`: every id of the file.
 * `import_missing`: the ids to delete, numbered.
 */
export function temporaryTables(resource: Resource): Statement[] {
  return [
    // When a session ends, PostgreSQL drops its temporary tables in a transaction. If that waited for a synchronous standby that
    // does not respond, nothing could end the session, and the server could not shut down. Transactions that write records wait.
    sql`set synchronous_commit = local`.statement(),
    sql`drop table if exists pg_temp.import_staging, pg_temp.import_ids, pg_temp.import_missing`.statement(),
    staging(resource, 'delete rows'),
    sql`create temp table import_ids (id bigint)`.statement(),
    sql`create temp table import_missing (n bigint primary key, id bigint)`.statement(),
  ]
}

/** The first statement of a transaction in a session with temporary tables: its commit waits as the server or the login is configured. */
export const defaultCommit = sql`set local synchronous_commit to default`.statement()

/** `drop`: for one transaction, because a pooler may assign another connection to the next one. */
export function staging(resource: Resource, onCommit: 'delete rows' | 'drop'): Statement {
  const columns = fieldColumns(resource).map(
    ({ name, type }) => sql`${identifier(name)} ${columnTypes[type]}`,
  )
  if (resource.schema !== undefined) columns.push(sql`custom jsonb`)
  return sql`create temp table import_staging (field_mask int, ${join(columns, ', ')}, primary key (id)) on commit ${
    onCommit === 'drop' ? sql`drop` : sql`delete rows`
  }`.statement()
}

/** The version that a write makes, and who writes. */
export interface WriteBy {
  readonly version: string
  readonly author: string
}

/** Deletes the records with these ids. Returns their number, `deleted`. */
export function deleteIds(
  scope: AccountScope,
  resource: Resource,
  by: WriteBy,
  ids: readonly string[],
): Statement {
  return deleteRecords(scope, resource, by, {
    ids: sql`${value(ids)}::bigint[]`,
    condition: sql`true`,
  })
}

export const copyIds = sql`copy import_ids (id) from stdin`.statement()

export function copyStaging(columns: readonly UpdateColumn[], hasOwn: boolean): Statement {
  const names = [...columns.map(({ name }) => name), ...(hasOwn ? ['custom'] : [])]
  return sql`copy import_staging (field_mask, ${join(names.map(identifier), ', ')}) from stdin`.statement()
}

export function copyRecords(resource: Resource): Statement {
  const columns = fieldColumns(resource).map(({ name }) => identifier(name))
  if (resource.schema !== undefined) columns.push(identifier('custom'))
  return sql`copy ${identifier(resource.name)} (account_id, version, created_version, created_by, changed_by, ${join(columns, ', ')}) from stdin`.statement()
}

export function currentTally(scope: AccountScope, resource: Resource): Statement {
  return sql`select version::text as version, last_id::text as last_id, own_last_id::text as own_last_id,
  sender_ids_from::text as sender_ids_from, service_ids from tally
where account_id = ${value(scope.accountId)}::bigint and resource = ${value(resource.name)}`.statement()
}

export interface TickOfBatch {
  /** Inserted, changed and deleted. */
  readonly records: number
  readonly added: number
  readonly lastId: number
  /** The highest id that it has assigned; 0 if it has assigned none. */
  readonly ownLastId: number
  readonly withoutImages: boolean
  /** From now on, another system assigns ids, and this service those from 2^32 on. */
  readonly becameExternal: boolean
}

/** The tick of a batch. `lastId`: the highest id that it inserted. */
export function updateTally(
  scope: AccountScope,
  resource: Resource,
  batch: TickOfBatch,
  locked: LockedTally,
): Statement {
  const tick = {
    added: sql`${value(batch.added)}::bigint`,
    lastId: sql`greatest(t.last_id, ${value(batch.lastId)}::bigint)`,
    withoutImages: batch.withoutImages,
    ...ownLastIdOf(batch, locked),
  }
  return tickTally(value(scope.accountId), resource, tick, locked).statement()
}

function ownLastIdOf({ becameExternal, ownLastId }: TickOfBatch, { own_last_id: before }: LockedTally) {
  if (becameExternal) return { ownLastId: sql`${value(limits.externalIdMax)}::bigint` }
  if (before === null || ownLastId === 0) return {}
  return { ownLastId: sql`greatest(t.own_last_id, ${value(ownLastId)}::bigint)` }
}

export function copyKeys(resource: Resource): Statement {
  return sql`copy ${keyTable(resource)} (account_id, field, value, id) from stdin`.statement()
}

export function missingIds(from: number, to: number): Statement {
  return sql`select id::text as id from import_missing where n between ${value(from)}::bigint and ${value(to)}::bigint`.statement()
}

export function existing(scope: AccountScope, resource: Resource, ids: readonly string[]): Statement {
  return sql`select id::text as id from ${found(scope, resource, ids, sql`id`)}`.statement()
}

/** `found` has the alias `r`. */
function found(
  { accountId }: AccountScope,
  { name }: Resource,
  ids: readonly string[],
  columns: Fragment,
): Fragment {
  return recordsById(identifier(name), value(accountId), sql`${value(ids)}::bigint[]`, columns)
}

export function versions(scope: AccountScope, resource: Resource, ids: readonly string[]): Statement {
  return sql`select id::text as id, version::text as version from ${found(scope, resource, ids, sql`id, version`)}`.statement()
}

/** All fields of the records with these ids, in the text form that a validated cell has. */
export function storedCells(scope: AccountScope, resource: Resource, ids: readonly string[]): Statement {
  const cells = resource.fields.map((field) => {
    const { name, type } = field
    if (field.customKey !== undefined) return sql`(custom->${keyOf(field.customKey)})::text`
    const column = identifier(name)
    return type === 'timestamp'
      ? sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : sql`${column}::text`
  })
  return sql`select cells from ${found(scope, resource, ids, sql`array[${join(cells, ', ')}] as cells`)}`.statement()
}

export interface UpdateColumn {
  readonly name: string
  readonly bit: number
  /** Every row of the batch contains it, so that `field_mask` need not be tested. */
  readonly always: boolean
}

/** The rows of `import_staging`, whose records exist. */
export interface StagedBatch extends WriteBy {
  readonly ids: readonly string[]
  readonly columns: readonly UpdateColumn[]
  /** Whether a row has values of the account's own fields. */
  readonly hasOwn: boolean
  readonly writtenAt: string
}

/** Writes only records that change, and their before-images. If a row has no write_date, its record gets the time of the batch. */
export function update(scope: AccountScope, resource: Resource, batch: StagedBatch): Statement {
  const account = value(scope.accountId)
  const version = value(batch.version)
  const table = identifier(resource.name)
  // The account of a record is that of the row in "changed", so that no planner can read all records of the account instead.
  return sql`with changed as (
  select t.* from import_staging s cross join lateral (
    select * from ${table} where account_id = ${account}::bigint and id = s.id offset 0) t
  where ${differs(batch)}
), images as (
  ${insertImages(account, resource, version, sql`changed`)}
)
update ${table} t set version = ${version}::bigint, ${assignments(batch)}
from changed c join import_staging s on s.id = c.id
where t.account_id = c.account_id and t.id = c.id and (t.account_id = ${account}::bigint) is true`.statement()
}

/** The ids of the records that change. For layouts that need the account's condition at the top. */
export function changedIds(scope: AccountScope, resource: Resource, batch: StagedBatch): Statement {
  return sql`select t.id::text as id from ${changed(value(scope.accountId), resource, batch)}`.statement()
}

/** Writes the records with the ids of the batch. For the same layouts. */
export function updateStaged(scope: AccountScope, resource: Resource, batch: StagedBatch): Statement {
  return sql`update ${identifier(resource.name)} t set version = ${value(batch.version)}::bigint, ${assignments(batch)}
from import_staging s
where t.account_id = ${value(scope.accountId)}::bigint and t.id = s.id and t.id = any(${value(batch.ids)}::bigint[])`.statement()
}

function changed(account: Value, resource: Resource, batch: StagedBatch): Fragment {
  return sql`${identifier(resource.name)} t join import_staging s on s.id = t.id
  where t.account_id = ${account}::bigint and t.id = any(${value(batch.ids)}::bigint[])
    and ${differs(batch)}`
}

/** Whether the record `t` differs from its row `s`. */
function differs(batch: StagedBatch): Fragment {
  const columns = batch.columns.filter(({ name }) => name !== 'id')
  const stored = columns.map(({ name }) => sql`t.${identifier(name)}`)
  const imported = columns.map((column) => importedOr(column, sql`t.${identifier(column.name)}`))
  const differ = sql`row(${join(stored, ', ')}) is distinct from row(${join(imported, ', ')})`
  const differsOwn = sql`t.custom is distinct from ${patchedOwn(sql`t.custom`, sql`s.custom`)}`
  if (!batch.hasOwn) return differ
  return columns.length === 0 ? differsOwn : sql`(${differ} or ${differsOwn})`
}

function assignments(batch: StagedBatch): Fragment {
  const writtenAt = sql`${value(batch.writtenAt)}::timestamptz`
  const columns = batch.columns.filter(({ name }) => name !== 'id')
  const assigned = columns.map((column) => {
    const name = identifier(column.name)
    return sql`${name} = ${importedOr(column, column.name === 'write_date' ? writtenAt : sql`t.${name}`)}`
  })
  if (batch.hasOwn) assigned.push(sql`custom = ${patchedOwn(sql`t.custom`, sql`s.custom`)}`)
  assigned.push(sql`changed_by = ${value(batch.author)}::text`)
  if (!columns.some(({ name }) => name === 'write_date')) assigned.push(sql`write_date = ${writtenAt}`)
  return join(assigned, ', ')
}

function importedOr(column: UpdateColumn, fallback: Fragment): Fragment {
  const name = identifier(column.name)
  if (column.always) return sql`s.${name}`
  return sql`case when s.field_mask & ${value(column.bit)}::int <> 0 then s.${name} else ${fallback} end`
}

export const analyzeIds = sql`analyze import_ids`.statement()

/** The number of records with these ids, `records`. */
export function countRecords(scope: AccountScope, resource: Resource, ids: IdRange): Statement {
  return sql`select count(*)::float8 as records from ${identifier(resource.name)} where account_id = ${value(scope.accountId)}::bigint
  and id between ${value(ids.from)}::bigint and ${value(ids.to)}::bigint`.statement()
}

/** Which records an import replaces: those with these ids, as they were before it. */
export interface Replaced {
  readonly ids: IdRange
  /** The version of the account's resource before the import. */
  readonly before: string
}

export function isReplaced({ ids, before }: Replaced): Fragment {
  return sql`version <= ${value(before)}::bigint and id between ${value(ids.from)}::bigint and ${value(ids.to)}::bigint`
}

/** Finds records that are not in the file. Takes no lock, because it reads every record of the account. */
export function findMissing(scope: AccountScope, resource: Resource, replaced: Replaced): Statement {
  return sql`insert into import_missing (n, id)
select row_number() over (order by t.id), t.id from ${identifier(resource.name)} t
where t.account_id = ${value(scope.accountId)}::bigint and ${isReplaced(replaced)}
  and not exists (select from import_ids s where s.id = t.id)`.statement()
}

/** Rows of `import_missing`, by their numbers. */
export interface MissingBatch extends WriteBy {
  readonly versionBefore: string
  readonly from: number
  readonly to: number
}

/**
 * Deletes one batch of them. The caller holds the lock of the tally. The version is compared again, because another
 * import may have written some of these records since `findMissing`.
 */
export function deleteMissing(scope: AccountScope, resource: Resource, batch: MissingBatch): Statement {
  const { versionBefore, from, to } = batch
  return deleteRecords(scope, resource, batch, {
    ids: sql`array(select id from import_missing where n between ${value(from)}::bigint and ${value(to)}::bigint)`,
    condition: sql`version <= ${value(versionBefore)}::bigint`,
  })
}

export function analyze(resource: Resource): Statement {
  return sql`analyze ${identifier(resource.name)}`.statement()
}
