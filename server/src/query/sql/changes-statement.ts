import { changedBy } from '../../catalog/authors.ts'
import type { Field } from '../../catalog/field.ts'
import { perResource, type Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import {
  type Fragment,
  identifier,
  join,
  placeholder,
  type StateStatement,
  type StateTemplate,
  sql,
  type Value,
  value,
} from '../../sql.ts'
import { type Lineages, lineageColumns, stateColumns, type TallyState } from '../../tally-state.ts'
import type { ListPlan } from '../plan.ts'
import { etagOfSnapshot } from './etag.ts'
import { columnNames, etagJson, recordJson, storedColumns } from './record-json.ts'
import { where } from './where.ts'

/** The columns of the one row that the statement returns. */
export interface ChangesRow extends TallyState, Lineages {
  readonly count: string
  /** The changes as JSON objects, joined by the separator. */
  readonly changes: string
  /** The position of the last change; null if there are none. */
  readonly last_version: string | null
  readonly last_id: string | null
  /** `t` if the page is full and changes follow it. */
  readonly more: string
  /** With a filter: the position of the last record that was examined, if the page ends there and not at the last change. */
  readonly bound_version: string | null
  readonly bound_id: string | null
}

/** Where the page begins. Versions and ids are 64-bit integers as text. */
export interface ChangesStart {
  /** Records and deletions after this position. */
  readonly version: string
  readonly id: string
  /** Records up to this version are new to the client, and deletions up to it concern records that it never had. */
  readonly base: string
}

/**
 * Tally and page in one statement, so from one snapshot. The records of an account in the order of (version, id) are its feed:
 * each record once, at its last version. Deletions are merged in the same order.
 */
export function changesStatement(
  scope: AccountScope,
  plan: ListPlan,
  { version, id, base }: ChangesStart,
  separator = ',',
): StateStatement {
  const { resource, fields, where: predicate, limit } = plan
  const isWhole = predicate === undefined && fields === resource.fields && resource.schema === undefined
  const template = isWhole ? wholeTemplates[resource.name] : changesTemplate(plan)
  // Deletions begin after the base, or after the position if that is later.
  const [deletedVersion, deletedId] = BigInt(version) > BigInt(base) ? [version, id] : [base, idMax]
  const values = [scope.accountId, version, id, base, deletedVersion, deletedId, limit, separator]
  const isShort = predicate === undefined && limit <= limits.pipelinedRecordsMax
  return { ...template(values), execution: isShort ? 'pipelined' : 'generic' }
}

const idMax = String(2n ** 63n - 1n)

const account = placeholder()
const afterVersion = placeholder()
const afterId = placeholder()
const baseVersion = placeholder()
const deletedAfterVersion = placeholder()
const deletedAfterId = placeholder()
const pageLimit = placeholder()
const separatorText = placeholder()
const after = sql`(${afterVersion}::bigint, ${afterId}::bigint)`
const deletedAfter = sql`(${deletedAfterVersion}::bigint, ${deletedAfterId}::bigint)`
const scanMax = value(limits.feedScanRecordsMax)

function changesTemplate({ resource, fields, where: predicate }: Omit<ListPlan, 'limit'>): StateTemplate {
  const table = identifier(resource.name)
  const name = value(resource.name)
  const isFiltered = predicate !== undefined
  const matches = predicate && sql`(${where(predicate)}) is true`
  const bound = isFiltered
    ? sql`(select b.version from bound b), (select b.id from bound b)`
    : sql`null, null`
  return sql`${isFiltered ? boundOf(table) : sql``}select ${stateColumns}, ${lineageColumns}, p.count, p.changes, p.last_version, p.last_id,
  p.count = ${pageLimit}::int and (
    exists (select from ${table} n where n.account_id = ${account}::bigint and (n.version, n.id) > (p.last_version, p.last_id))
    or exists (select from tombstone n where n.account_id = ${account}::bigint and n.resource = ${name}::text
      and (n.version, n.id) > (p.last_version, p.last_id) and (n.version, n.id) > ${deletedAfter})) as more,
  b.bound_version, b.bound_id
from tally t
cross join (
  select count(*) as count, coalesce(string_agg(${changeJson(resource, fields, isFiltered)}, ${separatorText}::text), '') as changes,
    max(r.version) as last_version, (array_agg(r.id))[count(*)::int] as last_id
  from (
    select * from (
      (${changedRecords(table, fields, matches)})
      union all
      (${deletions(name, table, fields, matches)})
    ) c order by version, id limit ${pageLimit}::int
  ) r
) p
cross join (select ${bound}) b (bound_version, bound_id)
where t.account_id = ${account}::bigint and t.resource = ${name}::text`.template(
    [
      account,
      afterVersion,
      afterId,
      baseVersion,
      deletedAfterVersion,
      deletedAfterId,
      pageLimit,
      separatorText,
    ],
    'changes',
  )
}

/** A page with a filter examines at most `feedScanRecordsMax` records: a filter may match none of a million. */
function boundOf(table: Fragment): Fragment {
  return sql`with bound as materialized (
  select version, id from ${table} where account_id = ${account}::bigint and (version, id) > ${after}
  order by version, id offset ${scanMax}::int - 1 limit 1
)
`
}

/**
 * With a filter: the records that match, and those that the client may have because they matched before. That is not known, so
 * every changed record counts that existed when the client was at its position.
 *
 * The filter is evaluated on the records in the order of the version index. In the where clause of the scan, it would make the
 * planner choose the index of the filter, and sort all matches of the account for every page.
 */
function changedRecords(table: Fragment, fields: readonly Field[], matches: Fragment | undefined): Fragment {
  const columns = storedColumns(fields)
  const scan = (
    extra: Fragment,
    limit: Fragment,
  ) => sql`select version, id, created_version${columns}, false as deleted, false as erased${extra}
      from ${table} where account_id = ${account}::bigint and (version, id) > ${after}
      order by version, id limit ${limit}`
  if (matches === undefined) return scan(sql``, sql`${pageLimit}::int`)
  return sql`select * from (
      ${scan(sql`, ${matches} as matches`, sql`${scanMax}::int`)}) s
      where matches or (version > ${baseVersion}::bigint and (created_version, id) <= ${after})
      order by version, id limit ${pageLimit}::int`
}

/**
 * A deletion is left out if the same write created the record again, and that record is part of the page: both would have the
 * same position, and a page that ended between them would lose the record.
 */
function deletions(
  name: Value,
  table: Fragment,
  fields: readonly Field[],
  matches: Fragment | undefined,
): Fragment {
  const columns = join(
    columnNames(fields).map((column) => (column === changedBy.name ? sql`, d.deleted_by` : sql`, null`)),
    '',
  )
  const isSent = matches && sql` and (${matches} or (n.created_version, n.id) <= ${after})`
  const isExamined = sql`
        and not exists (select from bound b where (d.version, d.id) > (b.version, b.id))`
  return sql`select d.version, d.id, 0${columns}, true, d.erased${matches === undefined ? sql`` : sql`, false`} from tombstone d
      where d.account_id = ${account}::bigint and d.resource = ${name}::text and (d.version, d.id) > ${deletedAfter}
        and not exists (select from ${table} n
          where n.account_id = ${account}::bigint and n.id = d.id and n.version = d.version${isSent ?? sql``})${matches === undefined ? sql`` : isExamined}
      order by d.version, d.id limit ${pageLimit}::int`
}

function changeJson(resource: Resource, fields: readonly Field[], isFiltered: boolean): Fragment {
  const etag = etagOfSnapshot(resource, account)
  const ids = sql`r.id || ',"version":' || r.version`
  const by = fields.includes(changedBy)
    ? sql` || ',"deleted_by":' || coalesce(to_json(r.changed_by)::text, 'null')`
    : sql``
  const removed = sql` when not r.matches then '{"change":"removed","id":' || ${ids} || '}'`
  return sql`case when r.deleted then '{"change":"deleted","id":' || ${ids}${by} || case when r.erased then ',"erased":true}' else '}' end${isFiltered ? removed : sql``}
    else case when r.version <= ${baseVersion}::bigint or (r.created_version, r.id) > ${after}
      then '{"change":"created","id":' else '{"change":"updated","id":' end
      || ${ids} || ',"etag":' || ${etagJson(etag)} || ',"record":' || ${recordJson(fields, () => etag)} || '}' end`
}

/** For requests without a filter and without `fields`. */
const wholeTemplates = perResource((resource) =>
  changesTemplate({ resource, fields: resource.fields, where: undefined }),
)
