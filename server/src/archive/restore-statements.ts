import { changedBy, restoreAuthor } from '../catalog/authors.ts'
import { resources } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../sql.ts'
import type { ArchiveTable } from './archive-format.ts'

export interface RestoredTally {
  readonly total: number
  /** The tallies of the archive, as a JSON array. */
  readonly tallies: string
  /** What is added to the number of each field. */
  readonly numbersFrom: number
}

/** In the order of the resources, so that two restores of one account wait for each other instead of deadlocking. */
export function lockTallies(scope: AccountScope): Statement {
  return sql`select 1 from tally where account_id = ${value(scope.accountId)}::bigint order by resource for update`.statement()
}

export function deleteRows(scope: AccountScope, table: string): Statement {
  return sql`delete from ${identifier(table)} where account_id = ${value(scope.accountId)}::bigint`.statement()
}

/** `json_populate_recordset` converts the values to the types of the table's columns, as PostgreSQL wrote them. */
export function insertAccount({ columns }: ArchiveTable, json: string, name: string | undefined): Statement {
  const selected = columns.map((column) =>
    column === 'name' && name !== undefined ? sql`${value(name)}::text` : sql`r.${identifier(column)}`,
  )
  return sql`insert into account (${join(columns.map(identifier), ', ')}) select ${join(selected, ', ')}
from json_populate_recordset(null::account, ${value(json)}::json) r returning account_id as "accountId"`.statement()
}

/** `skipExisting`: a row whose key exists stays as it is, so that a key which was revoked after the export stays revoked. */
export function insertRows(
  scope: AccountScope,
  { name, columns }: ArchiveTable,
  json: string,
  { skipExisting, numbersFrom }: { readonly skipExisting: boolean; readonly numbersFrom: number },
): Statement {
  const table = identifier(name)
  // An archive of a version that did not know who wrote a record.
  const isAnonymous = name in resources && !columns.includes(changedBy.name)
  const names = [...columns, ...(isAnonymous ? [changedBy.name] : [])].map(identifier)
  const author = isAnonymous ? [sql`${value(restoreAuthor)}::text`] : []
  const selected = [...columns.map((column) => renumbered(name, column, numbersFrom)), ...author]
  return sql`insert into ${table} (account_id, ${join(names, ', ')})
select ${value(scope.accountId)}::bigint, ${join(selected, ', ')}
from json_populate_recordset(null::${table}, ${value(json)}::json) r${skipExisting ? sql` on conflict do nothing` : sql``}`.statement()
}

/**
 * The fields of the archive get numbers that no field of the account ever had, because requests in flight may know those, with other
 * types. So the keys of the values change as well.
 */
function renumbered(table: string, column: string, numbersFrom: number): Fragment {
  const original = sql`r.${identifier(column)}`
  if (numbersFrom === 0) return original
  const from = sql`${value(numbersFrom)}::bigint`
  if (table === 'field' && column === 'number') return sql`${original} + ${from}`
  if (column !== 'custom') return original
  return sql`(select jsonb_object_agg((m.key::bigint + ${from})::text, m.value) from jsonb_each(${original}) m)`
}

/** A field whose values were being read when the account was exported: they are read again, from the start. */
export function restartBuilds({ accountId }: AccountScope): Statement {
  return sql`update field set unique_state = 'building', built_to = null, build_after = now()
where account_id = ${value(accountId)}::bigint and unique_state in ('waiting', 'building')`.statement()
}

/** The highest version of the account's own fields, of all resources. */
export function highestSchema(scope: AccountScope): Statement {
  return sql`select coalesce(max(schema), 0)::float8 as schema from tally where account_id = ${value(scope.accountId)}::bigint`.statement()
}

/**
 * The version is higher than in the archive and than any that the account had here. `last_id` never decreases, so that no id
 * is used twice, even if the archive lacks the record that had it. Nor does the date of the last write, although the clock
 * of the server that wrote the archive may have been ahead of this one. Who assigns ids is as in the archive, which may be of a
 * version without that. If nobody had decided that, the account keeps its own decision. Where this service assigned ids, the range of
 * another system begins after them.
 */
export function setTally(
  scope: AccountScope,
  resource: string,
  { total, tallies, numbersFrom }: RestoredTally,
): Statement {
  const accountId = value(scope.accountId)
  const name = value(resource)
  const max = sql`${value(limits.externalIdMax)}::bigint`
  const from = sql`${value(numbersFrom)}::bigint`
  const isUndecided = sql`excluded.last_id = 0 and excluded.own_last_id is null and not excluded.service_ids`
  return sql`insert into tally as t (account_id, resource, version, total, last_id, own_last_id, written_at, sender_ids_from, service_ids, schema)
select ${accountId}::bigint, ${name}::text, coalesce(a.version, 0) + 1, ${value(total)}::bigint,
  greatest(a.last_id, (select max(id) from ${identifier(resource)} where account_id = ${accountId}::bigint), 0),
  a.own_last_id, a.written_at, coalesce(a.sender_ids_from, 1), coalesce(a.service_ids, false),
  case when coalesce(a.schema, 0) = 0 and ${from} = 0 then 0 else coalesce(a.schema, 0) + ${from} + 1 end
from (select 1) one
left join json_populate_recordset(null::tally, ${value(tallies)}::json) a on a.resource = ${name}::text
on conflict (account_id, resource) do update
  set version = greatest(t.version + 1, excluded.version), total = excluded.total,
    last_id = greatest(t.last_id, excluded.last_id),
    own_last_id = case when ${isUndecided} then t.own_last_id
      when excluded.own_last_id is not null then greatest(excluded.own_last_id, t.own_last_id, t.last_id) end,
    sender_ids_from = case when excluded.own_last_id is not null then excluded.sender_ids_from
      else greatest(t.sender_ids_from, excluded.sender_ids_from, case when excluded.last_id <= ${max} then excluded.last_id + 1 end) end,
    service_ids = case when ${isUndecided} then t.service_ids else excluded.service_ids end,
    written_at = greatest(t.written_at, excluded.written_at), schema = excluded.schema`.statement()
}

export function analyze(resource: string): Statement {
  return sql`analyze ${identifier(resource)}`.statement()
}
