import { authorFields } from '../catalog/authors.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import { hasAddressOf } from '../query/sql/by-id.ts'
import { columnNames } from '../query/sql/record-json.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../sql.ts'

/**
 * The journal of a write: before-images of what it changes and deletes, and tombstones of what it deletes. Both are written by
 * the statement that changes the records, after the tally was locked by an earlier statement.
 */

/** Inserts before-images. `source`: a relation with the columns of the record, as it was before the write. */
export function insertImages(account: Value, resource: Resource, version: Value, source: Fragment): Fragment {
  const { columns, values } = imageColumns(resource)
  return sql`insert into ${identifier(`${resource.name}_before`)} (account_id, version, ${columns})
  select ${account}::bigint, ${version}::bigint, ${values} from ${source}
  where (select count(*) from ${source}) <= ${value(limits.imagesOfWriteMax)}::int`
}

/** Whether a write of this many records has before-images of all of them. */
export function hasImages(records: number): boolean {
  return records <= limits.imagesOfWriteMax
}

/** The version that a deletion makes, and who deletes. */
interface Deletion {
  readonly version: Value
  readonly author: Value
}

/** Deletes the records with these ids that match `condition`, and journals them. Returns one row, `deleted`. */
export function deleteRecords(
  scope: AccountScope,
  resource: Resource,
  { version, author }: { readonly version: string; readonly author: string },
  { ids, condition }: { readonly ids: Fragment; readonly condition: Fragment },
): Statement {
  const account = value(scope.accountId)
  const deleted = sql`${hasAddressOf(identifier(resource.name), account, ids)} and ${condition}`
  const by = { version: value(version), author: value(author) }
  const deletion = journaledDeletion(account, resource, by, deleted)
  return sql`with ${deletion}
select count(*)::int as deleted from gone`.statement()
}

/** Deletes one record, as common table expressions, of which `gone` has the deleted record. */
export function journaledDelete(
  account: Value,
  resource: Resource,
  deletion: Deletion,
  condition: Fragment,
): Fragment {
  return journaledDeletion(account, resource, deletion, sql`account_id = ${account}::bigint and ${condition}`)
}

function journaledDeletion(
  account: Value,
  resource: Resource,
  { version, author }: Deletion,
  condition: Fragment,
): Fragment {
  return sql`gone as (
  delete from ${identifier(resource.name)} where ${condition} returning *
), buried as (
  insert into tombstone (account_id, resource, version, id, deleted_by)
  select ${account}::bigint, ${value(resource.name)}::text, ${version}::bigint, id, ${author}::text from gone
), images as (
  ${insertImages(account, resource, version, sql`gone`)}
)`
}

/**
 * The columns of a before-image, and their values from those of a record. Without values of the account's own fields it has `{}`: null
 * is an image of a process that does not know these fields.
 */
export function imageColumns({ fields, schema }: Resource): { columns: Fragment; values: Fragment } {
  const stored = columnNames([...fields, ...authorFields]).filter((name) => name !== 'custom')
  const names = ['id', 'created_version', ...stored]
  const columns = join(
    names.map((name) => identifier(name)),
    ', ',
  )
  if (schema === undefined) return { columns, values: columns }
  return { columns: sql`${columns}, custom`, values: sql`${columns}, coalesce(custom, '{}')` }
}

/**
 * Deletes what the journal need not hold any longer, in the transaction of a write. Versions are deleted completely, and
 * the tally states from which version on the journal is complete. Most calls return no statement: the journal is trimmed
 * every `trimVersions` versions. The number of rows is checked less often, unless writes of this many `records` could exceed
 * the maximum before the next check.
 */
export function trimJournal(
  scope: AccountScope,
  resource: Resource,
  version: string,
  records: number,
): Statement[] {
  const due = (versions: number) => BigInt(version) % BigInt(versions) === 0n
  if (!due(limits.trimVersions)) return []
  const account = value(scope.accountId)
  const journals = journalsOf(account, resource)
  const isCounted = ({ countVersions, rowsMax }: Journal) =>
    due(countVersions) || records * countVersions >= rowsMax
  return [
    ...journals.map((journal) => trim(account, resource, journal, expiredUpTo(journal))),
    ...journals.filter(isCounted).map((journal) => trim(account, resource, journal, beyondMaximum(journal))),
  ]
}

/** The same for what has expired, whatever the version is. */
export function trimExpired(scope: AccountScope, resource: Resource): Statement[] {
  const account = value(scope.accountId)
  return journalsOf(account, resource).map((journal) =>
    trim(account, resource, journal, expiredUpTo(journal)),
  )
}

/** Returns one row, `expired`: whether the oldest before-image or the oldest tombstone has. */
export function hasExpired(scope: AccountScope, resource: Resource): Statement {
  const oldest = journalsOf(value(scope.accountId), resource).map(
    ({ table, row, expired }) =>
      sql`coalesce((select ${expired} from ${table} where ${row} order by version limit 1), false)`,
  )
  return sql`select ${join(oldest, ' or ')} as expired`.statement()
}

/** The before-images and the tombstones. */
function journalsOf(account: Value, resource: Resource): readonly [Journal, Journal] {
  const images: Journal = {
    table: identifier(`${resource.name}_before`),
    row: sql`account_id = ${account}::bigint`,
    expired: sql`at < now() - make_interval(mins => ${value(limits.imageMinutes)}::int)`,
    rowsMax: limits.imagesMax,
    countVersions: limits.countImagesVersions,
    completeFrom: identifier('images_from'),
  }
  const tombstones: Journal = {
    table: identifier('tombstone'),
    row: sql`account_id = ${account}::bigint and resource = ${value(resource.name)}::text`,
    expired: sql`at < now() - make_interval(days => ${value(limits.tombstoneDays)}::int)`,
    rowsMax: limits.tombstonesMax,
    countVersions: limits.countTombstonesVersions,
    completeFrom: identifier('changes_from'),
  }
  return [images, tombstones]
}

interface Journal {
  readonly table: Fragment
  readonly row: Fragment
  readonly expired: Fragment
  readonly rowsMax: number
  /** The number of rows is checked by every write whose version is a multiple of this. */
  readonly countVersions: number
  /** The column of the tally. */
  readonly completeFrom: Fragment
}

/** The newest expired version among the oldest rows; null if the oldest row has not expired, which costs one index probe. */
function expiredUpTo({ table, row, expired }: Journal): Fragment {
  return sql`select max(version) as version from (
    select version, at from ${table} where ${row} order by version limit ${value(limits.trimRowsMax)}::int
  ) oldest where ${expired} and (select ${expired} from ${table} where ${row} order by version limit 1)`
}

/** The newest version beyond the maximum number of rows, among the oldest rows; no row if there are not that many. */
function beyondMaximum({ table, row, rowsMax }: Journal): Fragment {
  return sql`select least(b.version, (select max(version) from (
      select version from ${table} where ${row} order by version limit ${value(limits.trimRowsMax)}::int) oldest)) as version
    from (select version from ${table} where ${row} order by version desc offset ${value(rowsMax)}::int limit 1) b`
}

function trim(
  account: Value,
  resource: Resource,
  { table, row, completeFrom }: Journal,
  upTo: Fragment,
): Statement {
  return sql`with up_to as materialized (
  ${upTo}
), gone as (
  delete from ${table} where ${row} and version <= (select version from up_to)
)
update tally t set ${completeFrom} = greatest(t.${completeFrom}, u.version) from up_to u
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text and u.version is not null`.statement()
}
