import type { Resource, ResourceName } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { recordsById } from '../query/sql/by-id.ts'
import { deleteValues, valueTable } from '../query/sql/value-sets.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../sql.ts'

/**
 * Writes the values of declared fields into their table, behind the records: in the order of (version, id), which is that of the change
 * feed. A step takes the next records that were written or deleted, replaces their rows, and moves the position. Writers do not take
 * part. What a record has when its rows are written may be newer than the position: then its version is, too, and its rows are not
 * used until a later step has written them again.
 */
export interface ValueStep {
  /** `busy`: another process writes them. `more`: there may be further records. */
  readonly state: 'busy' | 'more' | 'done'
  /** The fields whose missing values are marked, by their numbers. */
  readonly dense: ReadonlySet<string>
}

interface IndexRow {
  readonly version: string
  readonly id: string
  readonly is_valid: boolean
  readonly dense: string[]
}

interface ChangedRow {
  readonly id: string
  readonly version: string
}

/** A transaction that ends in a fraction of a second. */
export async function writeNextValues(
  transaction: Transaction,
  scope: AccountScope,
  resource: Resource,
): Promise<ValueStep> {
  const found = await transaction.run<IndexRow>(lockIndex(scope, resource))
  const [index] = found.length > 0 ? found : await begin(transaction, scope, resource)
  const dense = new Set(index?.dense)
  if (index === undefined) return { state: 'busy', dense }
  if (!index.is_valid) return await removeStep(transaction, scope, resource)
  const changed = await transaction.run<ChangedRow>(nextChanged(scope, resource, index))
  const last = changed.at(-1)
  if (last === undefined) return { state: 'done', dense }
  const ids = [...new Set(changed.map(({ id }) => id))]
  await transaction.run(transaction.form(deleteValues)(scope, resource, ids))
  await transaction.run(insertValues(scope, resource, ids))
  if (dense.size > 0) await transaction.run(insertMarks(scope, resource, ids, index.dense))
  await transaction.run(moveTo(scope, resource, last))
  return { state: changed.length < limits.valueStepRecords ? 'done' : 'more', dense }
}

/** Returns no row if another process holds the lock, or begins at the same time. */
async function begin(
  transaction: Pick<Transaction, 'run'>,
  scope: AccountScope,
  resource: Resource,
): Promise<IndexRow[]> {
  const [{ dense } = { dense: [] }] = await transaction.run<{ dense: string[] }>(denseFields(scope, resource))
  await transaction.run(insertIndex(scope, resource, dense))
  return await transaction.run<IndexRow>(lockIndex(scope, resource))
}

/** Deletions are missing that concern rows of the table, so it is emptied, and begins again. */
async function removeStep(
  transaction: Pick<Transaction, 'run'>,
  scope: AccountScope,
  resource: Resource,
): Promise<ValueStep> {
  const [page] = await transaction.run<{ last: string | null }>(lastOfPage(scope, resource))
  if (page?.last == null) await transaction.run(deleteIndex(scope, resource))
  else await transaction.run(deleteUpTo(scope, resource, page.last))
  return { state: 'more', dense: new Set() }
}

function isIndexOf({ accountId }: AccountScope, { name }: { readonly name: ResourceName }) {
  return sql`account_id = ${value(accountId)}::bigint and resource = ${value(name)}::text`
}

function lockIndex(scope: AccountScope, resource: Resource): Statement {
  const account = value(scope.accountId)
  const name = value(resource.name)
  return sql`select i.version::text as version, i.id::text as id, i.dense::text[] as dense, greatest(i.version, i.started) >= (
  select t.changes_from from tally t where t.account_id = ${account}::bigint and t.resource = ${name}::text) as is_valid
from value_index i where i.account_id = ${account}::bigint and i.resource = ${name}::text for update skip locked`.statement(
    'fields',
  )
}

function insertIndex({ accountId }: AccountScope, { name }: Resource, dense: readonly string[]): Statement {
  return sql`insert into value_index (account_id, resource, version, id, started, dense)
select t.account_id, t.resource, 0, 0, t.version, ${value(dense)}::bigint[] from tally t
where t.account_id = ${value(accountId)}::bigint and t.resource = ${value(name)}::text on conflict (account_id, resource) do nothing`.statement(
    'fields',
  )
}

/** The fields that nearly all of some records have: the oldest and the newest ones. */
function denseFields({ accountId }: AccountScope, { name }: Resource): Statement {
  const account = value(accountId)
  const sample = value(limits.denseSampleRecords)
  const table = identifier(name)
  const records = (order: 'asc' | 'desc') =>
    sql`(select id, custom from ${table} where account_id = ${account}::bigint order by id${order === 'asc' ? sql`` : sql` desc`} limit ${sample}::int)`
  return sql`with sample as materialized (
  select distinct on (id) id, custom from (${join([records('asc'), records('desc')], ' union all ')}) s
)
select coalesce(array_agg(field order by field), '{}') as dense from (
  select k as field from sample, jsonb_object_keys(custom) k
  group by k having count(*) >= (select count(*) from sample) * ${value(limits.denseShareMin)}::float8) f`.statement(
    'fields',
  )
}

function nextChanged({ accountId }: AccountScope, { name }: Resource, { version, id }: IndexRow): Statement {
  const account = value(accountId)
  const after = sql`(version, id) > (${value(version)}::bigint, ${value(id)}::bigint) order by version, id limit ${value(limits.valueStepRecords)}::int`
  return sql`select id::text as id, version::text as version from (
  (select version, id from ${identifier(name)} where account_id = ${account}::bigint and ${after})
  union all
  (select version, id from tombstone where account_id = ${account}::bigint and resource = ${value(name)}::text and ${after})
) c order by c.version, c.id limit ${value(limits.valueStepRecords)}::int`.statement('fields')
}

/** The columns `number` and `text` of a value: of the field `f`, in the record `r`. */
const typedValue = sql`case when f.type = 'text' then null when f.type = 'boolean' then (r.custom->f.number::text)::boolean::int
    when f.type = 'timestamp' then extract(epoch from (r.custom->>f.number::text)::timestamptz) * 1000 else (r.custom->f.number::text)::numeric end as number,
  case when f.type = 'text' then r.custom->>f.number::text end as text`

/** With the alias `r`. */
function changedRecords(resource: ResourceName, account: Value, ids: readonly string[]): Fragment {
  return recordsById(identifier(resource), account, sql`${value(ids)}::bigint[]`, sql`account_id, id, custom`)
}

/** Of fields that were deleted, nothing is written. */
function insertValues({ accountId }: AccountScope, { name }: Resource, ids: readonly string[]): Statement {
  const account = value(accountId)
  return sql`insert into ${valueTable(name)} (account_id, id, field, number, text)
select r.account_id, r.id, f.number, ${typedValue}
from ${changedRecords(name, account, ids)} join field f on f.account_id = r.account_id and f.resource = ${value(name)}::text and f.state = 'stored' and r.custom ? f.number::text
where f.account_id = ${account}::bigint`.statement('fields')
}

/** For filters with null. */
function insertMarks(
  { accountId }: AccountScope,
  { name }: Resource,
  ids: readonly string[],
  dense: readonly string[],
): Statement {
  const account = value(accountId)
  return sql`insert into ${valueTable(name)} (account_id, id, field, number)
select r.account_id, r.id, -f.number, 0
from ${changedRecords(name, account, ids)} join field f on f.account_id = r.account_id and f.resource = ${value(name)}::text and f.state = 'stored'
  and f.number = any(${value(dense)}::bigint[]) and (r.custom ? f.number::text) is not true
where f.account_id = ${account}::bigint`.statement('fields')
}

function moveTo(scope: AccountScope, resource: Resource, { version, id }: ChangedRow): Statement {
  return sql`update value_index set version = ${value(version)}::bigint, id = ${value(id)}::bigint where ${isIndexOf(scope, resource)}`.statement(
    'fields',
  )
}

function lastOfPage({ accountId }: AccountScope, { name }: Resource): Statement {
  return sql`select max(id)::text as last from (select id from ${valueTable(name)} where account_id = ${value(accountId)}::bigint
  order by id limit ${value(limits.removedValuesStep)}::int) p`.statement('fields')
}

function deleteUpTo({ accountId }: AccountScope, { name }: Resource, last: string): Statement {
  return sql`delete from ${valueTable(name)} where account_id = ${value(accountId)}::bigint and id <= ${value(last)}::bigint`.statement(
    'fields',
  )
}

function deleteIndex(scope: AccountScope, resource: Resource): Statement {
  return sql`delete from value_index where ${isIndexOf(scope, resource)}`.statement('fields')
}

/** The values of a deleted field, of the records after `from` up to `to`. */
export function deleteValuesOfField(
  { accountId }: AccountScope,
  { name }: { readonly name: ResourceName },
  number: string,
  { from, to }: { readonly from: string; readonly to: string },
): Statement {
  return sql`delete from ${valueTable(name)} where account_id = ${value(accountId)}::bigint and id > ${value(from)}::bigint and id <= ${value(to)}::bigint
  and field = any(${value([number, `-${number}`])}::bigint[])`.statement('activity')
}

/**
 * Returns one row: the numbers of values that are `missing` in the table, and of rows there that no record has, `surplus`. Of records
 * that a later step writes, nothing is compared.
 */
export function compareValues({ accountId }: AccountScope, { name }: Resource): Statement {
  const account = value(accountId)
  const [resource, records] = [sql`${value(name)}::text`, identifier(name)]
  const reached = sql`i.account_id = ${account}::bigint and i.resource = ${resource}`
  const fields = sql`f.account_id = ${account}::bigint and f.resource = ${resource} and f.state = 'stored'`
  return sql`with stored as (
  select r.id, f.number as field, ${typedValue}
  from value_index i join ${records} r on r.account_id = i.account_id join field f on f.account_id = i.account_id and r.custom ? f.number::text
  where ${reached} and r.account_id = ${account}::bigint and ${fields} and (r.version, r.id) <= (i.version, i.id)
  union all
  select r.id, -f.number, 0, null
  from value_index i join ${records} r on r.account_id = i.account_id join field f on f.account_id = i.account_id and f.number = any(i.dense)
    and (r.custom ? f.number::text) is not true
  where ${reached} and r.account_id = ${account}::bigint and ${fields} and (r.version, r.id) <= (i.version, i.id)
), written as (
  select v.id, v.field, v.number, v.text
  from value_index i join ${valueTable(name)} v on v.account_id = i.account_id join field f on f.account_id = i.account_id and f.number = abs(v.field)
  left join ${records} r on r.account_id = v.account_id and r.id = v.id
  where ${reached} and v.account_id = ${account}::bigint and ${fields} and case when r.id is not null then (r.version, r.id) <= (i.version, i.id)
    else not exists (select from tombstone d where d.account_id = ${account}::bigint and d.resource = ${resource} and (d.version, d.id) > (i.version, i.id) and d.id = v.id) end
)
select (select count(*) from (select * from stored except select * from written) m)::float8 as missing,
  (select count(*) from (select * from written except select * from stored) m)::float8 as surplus`.statement(
    'fields',
  )
}

/** Has the values written again, when the next filter needs them. */
export function emptyIndex(scope: AccountScope, resource: Resource): readonly Statement[] {
  const rows = sql`delete from ${valueTable(resource.name)} where account_id = ${value(scope.accountId)}::bigint`
  return [deleteIndex(scope, resource), rows.statement('fields')]
}
