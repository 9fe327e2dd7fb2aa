import { limits } from '../../limits/limits.ts'
import { type Fragment, identifier, join, sql, value } from '../../sql.ts'
import type { Predicate } from '../predicate.ts'
import { recordsById } from './by-id.ts'
import { countAmong, idsWith, type ValueFilter, type ValueTable } from './value-sets.ts'
import { where } from './where.ts'

/**
 * Total and matches by the table of values. It is behind the records: the records that changed after its position, and those that were
 * deleted, are `stale` there. So the matches are the records of the table that are not stale, and the changed records that match now.
 */
export interface IndexedParts {
  readonly head: Fragment
  /** Whether the statement has an answer. If not, too much has changed since, or a set is too large, and the rows are empty. */
  readonly isAnswered: Fragment
  /** The number of stale records; null if the table cannot be used. */
  readonly stale: Fragment
  readonly total: Fragment
  /** Selects the ids of all matches, if they are at most the sort threshold. */
  readonly ids: Fragment | undefined
  /** Whether the page is found by `ids`, and not by an ordered scan. Undefined: if there are `ids`. */
  readonly isSorted: Fragment | undefined
}

export function indexedParts(predicate: Predicate, filter: ValueFilter, table: ValueTable): IndexedParts {
  const base = baseOf(predicate, filter, table)
  const isUsable = sql`(select ok from usable)`
  const stale = sql`(select changes from usable)`
  switch (filter.kind) {
    case 'one-condition':
      return { ...oneCondition(base, filter.parts, table), stale, isAnswered: isUsable }
    case 'complement': {
      const total = sql`t.total - (select count(*) from changed) - (${counted(filter.parts, table)}) + ${changedMatches}`
      return { head: base, total, stale, isAnswered: isUsable, ids: undefined, isSorted: undefined }
    }
    case 'candidates':
      return { ...candidates(base, filter.sets, predicate, table), stale }
    default:
      return filter satisfies never
  }
}

const threshold = value(limits.filterSortRecordsMax)
const changedMatches = sql`(select count(*) from changed where matches)`

function baseOf(predicate: Predicate, { dense }: ValueFilter, { account, resource }: ValueTable): Fragment {
  const name = sql`${value(resource)}::text`
  const max = value(limits.staleValuesMax)
  const isMarked = dense.length === 0 ? sql`` : sql` and i.dense @> ${value(dense)}::bigint[]`
  const after = sql`(version, id) > ((select version from reached), (select id from reached))
  order by version, id limit ${max}::int + 1`
  return sql`with reached as materialized (
  select i.version, i.id, greatest(i.version, i.started) >= t.changes_from${isMarked} as ok
  from value_index i join tally t on t.account_id = i.account_id and t.resource = i.resource
  where i.account_id = ${account}::bigint and i.resource = ${name} and t.account_id = ${account}::bigint
), changed as materialized (
  select id, (${where(predicate)}) is true as matches from ${identifier(resource)} where account_id = ${account}::bigint and ${after}
), gone as materialized (
  select id from tombstone where account_id = ${account}::bigint and resource = ${name} and ${after}
), stale as materialized (
  select id from changed union select id from gone
), size as materialized (
  select case when (select ok from reached) then (select count(*) from changed) + (select count(*) from gone) end as changes
), usable as materialized (
  select changes, coalesce(changes <= ${max}::int, false) as ok from size
)`
}

/** Up to the sort threshold the matches are found once for total and page; above it, they are counted by the index. */
function oneCondition(
  base: Fragment,
  parts: readonly Fragment[],
  table: ValueTable,
): Omit<IndexedParts, 'stale' | 'isAnswered'> {
  const found = join(
    parts.map((part) => idsWith(table, part)),
    ' union all ',
  )
  const isSorted = sql`(select n from found_size) <= ${threshold}::int`
  return {
    head: sql`${base}, found as materialized (
  select id from (${found}) f where (select ok from usable) limit ${threshold}::int + 1
), found_size as materialized (select count(*) as n from found), matches as materialized (
  select id from found where id not in (select id from stale) union all select id from changed where matches
)`,
    total: sql`case when ${isSorted} then (select count(*) from matches)
  else ${counted(parts, table)} + ${changedMatches} end`,
    ids: sql`select id from matches`,
    isSorted,
  }
}

/** The number of records in the parts that are not stale. */
function counted(parts: readonly Fragment[], table: ValueTable): Fragment {
  const each = parts.map(
    (part) =>
      sql`(select count(*) from (${idsWith(table, part)}) c) - ${countAmong(table, part, sql`stale`)}`,
  )
  return join(each, ' + ')
}

/** The first set that is small enough is compared with the records. */
function candidates(
  base: Fragment,
  sets: readonly Fragment[],
  predicate: Predicate,
  { account, resource }: ValueTable,
): Omit<IndexedParts, 'stale'> {
  const names = sets.map((_, i) => identifier(`set_${i}`))
  const isSmall = (name: Fragment) => sql`(select count(*) from ${name}) <= ${threshold}::int`
  const found = sets.map(
    (set, i) =>
      sql`, ${names[i] ?? sql``} as materialized (select id from (${set}) f where (select ok from usable) limit ${threshold}::int + 1)`,
  )
  const chosen = names.map((name) => sql` when ${isSmall(name)} then array(select id from ${name})`)
  return {
    head: sql`${base}${join(found, '')}, matches as materialized (
  select id from ${recordsById(identifier(resource), account, sql`case${join(chosen, '')} end`, sql`*`)}
    where (${where(predicate)}) is true
  union select id from changed where matches
)`,
    isAnswered: sql`(select ok from usable) and (${join(names.map(isSmall), ' or ')})`,
    total: sql`(select count(*) from matches)`,
    ids: sql`select id from matches`,
    isSorted: undefined,
  }
}
