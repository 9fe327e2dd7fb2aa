import { limits } from '../../limits/limits.ts'
import { type Fragment, identifier, join, placeholder, sql, type Value, value } from '../../sql.ts'
import { isOwnWrite } from '../../tally-state.ts'
import type { ListPlan } from '../plan.ts'
import { refersToAuthor, refersToOwnField, where } from './where.ts'

/**
 * Carries a total, and the rank of a record among the matches, from the version at which they were cached to that of the
 * statement's snapshot. Of the records that changed since, those that match now are gained, and those that matched before
 * are lost: by their oldest before-image, unless they were created later.
 */

/** Where a scan can start: after this id, and after `rank` matches. Both 0: at the first record. */
export interface RankedId {
  readonly id: string
  readonly rank: number
}

/** What was cached, and at which version. */
export interface CarrySource {
  readonly lineage: string
  readonly version: string
  /** The nearest start, which is too far if too many matches were gained before it, and one that is near enough in any case. */
  readonly start: RankedId
  readonly safeStart: RankedId
}

/** What a statement with `carryHead` returns in addition. */
export interface CarryColumns {
  /** Ids, separated by commas. Null if the changes are not all known: then the statement has counted the matches. */
  readonly gained: string | null
  readonly lost: string | null
}

export const carryPlaceholders = {
  lineage: placeholder(),
  version: placeholder(),
  startId: placeholder(),
  startRank: placeholder(),
  safeId: placeholder(),
  safeRank: placeholder(),
}
const { lineage, version, startId, startRank, safeId, safeRank } = carryPlaceholders

export function carryValues({ lineage: of, version: since, start, safeStart }: CarrySource): unknown[] {
  return [of, since, start.id, start.rank, safeStart.id, safeStart.rank]
}

/** What changed since a cached version, as CTEs. */
export interface Journal {
  /** `changed` and `before`, each with the columns. */
  readonly ctes: Fragment
  /** Whether nothing is missing, for the tally row `t`. Otherwise the CTEs may not be used. */
  readonly isComplete: Fragment
}

export interface JournalSource {
  readonly plan: Pick<ListPlan, 'resource' | 'where'>
  readonly account: Fragment
  readonly since: { readonly lineage: Value; readonly version: Value }
}

/** Further columns of the records, computed from their fields. */
export interface JournalColumns {
  readonly names: readonly Fragment[]
  readonly values: readonly Fragment[]
  readonly refersToOwnField: boolean
}

/**
 * The records that changed after a version, with whether they match, and of those that existed then and matched, what they were before.
 * Every version since must have left a trace in the journal: an image, or a created record.
 */
export function journalSince(
  { plan, account, since: cached }: JournalSource,
  columns?: JournalColumns,
): Journal {
  const table = identifier(plan.resource.name)
  const images = identifier(`${plan.resource.name}_before`)
  const matches = plan.where === undefined ? sql`true` : sql`(${where(plan.where)}) is true`
  const readsOwn =
    columns?.refersToOwnField === true || (plan.where !== undefined && refersToOwnField(plan.where))
  const readsAuthor = plan.where !== undefined && refersToAuthor(plan.where)
  // Such an image was written by a process that did not know the account's own fields, or may have been by one that knew no authors.
  const partial = [
    ...(readsOwn ? [sql`custom is null`] : []),
    ...(readsAuthor ? [sql`changed_by is null`] : []),
  ]
  const isPartial = partial.length > 0 ? sql`, ${join(partial, ' or ')} as is_partial` : sql``
  const areWhole = partial.length > 0 ? sql` and not exists (select from images where is_partial)` : sql``
  const names = eachAfterComma(columns?.names ?? [])
  const values = eachAfterComma(
    (columns?.values ?? []).map((one, at) => sql`${one} as ${columns?.names[at] ?? sql``}`),
  )
  const since = sql`${cached.version}::bigint`
  const changedMax = value(limits.carriedChangesMax)
  const imagesMax = value(limits.carriedImagesMax)
  const latest = (rows: Fragment, max: Fragment) =>
    sql`(select * from ${rows} where account_id = ${account} and version > ${since} order by version limit ${max}) r`
  return {
    ctes: sql`changed as materialized (
  select id, created_version, ${matches} as matches${values} from ${latest(table, sql`${changedMax}::int + 1`)}
), images as materialized (
  select version, id, created_version, ${matches} as matches${values}${isPartial} from ${latest(images, sql`${imagesMax}::int + 1`)}
), before as materialized (
  select id${names} from (select distinct on (id) id, matches, created_version${names} from images order by id, version) oldest
  where matches and created_version <= ${since}
)`,
    isComplete: sql`${isOwnWrite} and t.lineages[1] = ${cached.lineage}::bigint and t.images_from <= ${since} and t.version >= ${since}
    and (select count(*) from changed) <= ${changedMax}::int and (select count(*) from images) <= ${imagesMax}::int${areWhole}
    and t.version - ${since} = (select count(*) from (
      select version from images union select created_version from images where created_version > ${since}
      union select created_version from changed where created_version > ${since}) v)`,
  }
}

function eachAfterComma(parts: readonly Fragment[]): Fragment {
  return join(
    parts.map((part) => sql`, ${part}`),
    '',
  )
}

/** The CTEs `changed`, `before`, `carry` and `start`. `skipped`: matches before the page. */
export function carryHead(plan: ListPlan, account: Fragment, skipped: Fragment): Fragment {
  const { ctes, isComplete } = journalSince({ plan, account, since: { lineage, version } })
  return sql`with ${ctes}, carry as materialized (
  select ${isComplete} as valid,
    ${rankOf(startId, startRank)} as start_rank, ${rankOf(safeId, safeRank)} as safe_rank
  from tally t where t.account_id = ${account} and t.resource = ${value(plan.resource.name)}::text
), start as materialized (
  select case when valid and start_rank <= ${skipped} then ${startId}::bigint when valid then ${safeId}::bigint else 0 end as id,
    ${skipped} - case when valid and start_rank <= ${skipped} then start_rank when valid then safe_rank else 0 end as skipped
  from carry
)
`
}

function rankOf(id: typeof startId, rank: typeof startRank): Fragment {
  return sql`${rank}::bigint + (select count(*) from changed where matches and id <= ${id}::bigint)
      - (select count(*) from before where id <= ${id}::bigint)`
}

/** The columns of `CarryColumns`. */
export const carryColumns = sql`case when (select valid from carry) then
    coalesce((select string_agg(id::text, ',') from changed where matches), '') end as gained,
  case when (select valid from carry) then coalesce((select string_agg(id::text, ',') from before), '') end as lost`
