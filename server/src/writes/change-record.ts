import type { Resource } from '../catalog/resources.ts'
import { Failure, recordUnknown } from '../errors/errors.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { patchedOwn } from '../query/sql/field-columns.ts'
import { parameterTypes } from '../query/sql/parameter-types.ts'
import { recordJson } from '../query/sql/record-json.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../sql.ts'
import { currentLineage, isValidPosition, type Lineages, positionOfEtag } from '../tally-state.ts'
import type { IdempotentWrites, WriteResult, Written } from './idempotency.ts'
import { insertImages, journaledDelete, trimJournal } from './journal.ts'
import type { DeleteRow, PatchRow, Target } from './record-change.ts'
import { type EtagOf, ownValues, type RecordValues, writableColumns } from './record-values.ts'
import { checkedSums, type SumsRow, sumsStatement } from './sums.ts'
import { dateOf, type LockedTally, lockTally, tickTally } from './tick.ts'

/** Sets the fields in `values`. If they have these values already, nothing is written and the version stays. */
export async function patchRecord(
  idempotent: IdempotentWrites,
  target: Target,
  values: RecordValues,
  etagOf: EtagOf,
): Promise<Written> {
  const { scope, idempotency } = target
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const tally = await locked(transaction, target)
    return await patched(transaction, target, values, tally, etagOf)
  })
}

/**
 * Adds to the fields in `deltas`. They are read after the tally was locked, so no other writer changes them before the sums are
 * written: adjustments of any number of clients add up.
 */
export async function adjustRecord(
  idempotent: IdempotentWrites,
  target: Target,
  deltas: RecordValues,
  etagOf: EtagOf,
): Promise<Written> {
  const { scope, resource, id, idempotency } = target
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const tally = await locked(transaction, target)
    const [row] = await transaction.run<SumsRow>(sumsStatement(target, deltas))
    if (row === undefined) throw recordUnknown(resource.noun, id)
    requireMatch(resource, row.version, matchingVersions(target, tally))
    return await patched(transaction, target, checkedSums(resource, deltas, row), tally, etagOf)
  })
}

async function patched(
  transaction: Transaction,
  target: Target,
  values: RecordValues,
  tally: LockedTally,
  etagOf: EtagOf,
): Promise<WriteResult> {
  const { resource, id } = target
  const versions = matchingVersions(target, tally)
  const row = await transaction.form(patchLocked)(transaction, target, values, tally, versions)
  if (row?.version_before == null || row.version === null) throw recordUnknown(resource.noun, id)
  requireMatch(resource, row.version_before, versions)
  if (row.lineage !== null) await trim(transaction, target, tally)
  const lineage = row.lineage ?? currentLineage(tally)
  const etag = etagOf(id, { version: row.version, lineage })
  return { id, status: 200, etag, record: row.record }
}

export async function deleteRecord(idempotent: IdempotentWrites, target: Target): Promise<Written> {
  const { scope, resource, id, idempotency } = target
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const tally = await locked(transaction, target)
    const versions = matchingVersions(target, tally)
    const row = await transaction.form(deleteLocked)(transaction, target, tally, versions)
    if (row?.version_before == null) throw recordUnknown(resource.noun, id)
    requireMatch(resource, row.version_before, versions)
    await trim(transaction, target, tally)
    return { id, status: 204, etag: null, record: null } satisfies WriteResult
  })
}

async function locked(transaction: Transaction, { scope, resource }: Target): Promise<LockedTally> {
  const tally = await transaction.form(lockTally)(transaction, scope, resource)
  if (tally === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  return tally
}

async function trim(
  transaction: Transaction,
  { scope, resource }: Target,
  { version }: LockedTally,
): Promise<void> {
  for (const statement of trimJournal(scope, resource, version, 1)) await transaction.run(statement)
}

/** The versions with which the record matches If-Match; undefined if it may have any. */
function matchingVersions({ etags, id }: Target, tally: Lineages): readonly string[] | undefined {
  return etags?.flatMap((etag) => {
    const position = positionOfEtag(etag, id)
    return position !== undefined && isValidPosition(tally, position) ? [position.version] : []
  })
}

function requireMatch({ noun }: Resource, version: string, versions: readonly string[] | undefined): void {
  if (versions === undefined || versions.includes(version)) return
  throw new Failure(
    'precondition_failed',
    `The ${noun} does not have the ETag of If-Match any more. Nothing was written. Read it again, and repeat the change if it still applies.`,
  )
}

/** `values` that the record has already are not written. */
export async function patchLocked(
  transaction: Transaction,
  target: Target,
  values: RecordValues,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Promise<PatchRow | undefined> {
  const [row] = await transaction.run<PatchRow>(patchStatement(target, values, tally, versions))
  return row
}

export async function deleteLocked(
  transaction: Transaction,
  target: Target,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Promise<DeleteRow | undefined> {
  const [row] = await transaction.run<DeleteRow>(deleteStatement(target, tally, versions))
  return row
}

/** Runs after the tally was locked, so that the before-image is what the previous writer left. */
function patchStatement(
  { scope, resource, id }: Target,
  values: RecordValues,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Statement {
  const [account, version, recordId] = [value(scope.accountId), value(tally.version), value(id)]
  const table = identifier(resource.name)
  const { differs, assignments } = patchOf(resource, values, sql`t.`)
  const tick = tickTally(account, resource, { added: sql`0`, lastId: sql`t.last_id` }, tally)
  return sql`with before as materialized (
  select * from ${table} where account_id = ${account}::bigint and id = ${recordId}::bigint
), changed as materialized (
  select * from before where ${hasVersion(versions)} and ${differs}
), images as (
  ${insertImages(account, resource, version, sql`changed`)}
), tick as (
  ${tick} and exists (select from changed)
  returning t.lineages[1] as lineage
), updated as (
  update ${table} t set ${join(assignments, '')}version = ${version}::bigint, write_date = ${dateOf(tally)}
  from changed c where t.account_id = ${account}::bigint and t.id = c.id
  returning t.*
)
select (select version from before) as version_before, (select lineage from tick) as lineage, r.version, ${recordJson(resource.fields)} as record
from (select * from updated union all select * from before where not exists (select from updated)) r`.statement(
    'update',
  )
}

/** Whether the values differ from those of the record, and their assignments, each with a comma behind it. `updated`: the prefix of the updated table. */
export function patchOf(
  resource: Resource,
  values: RecordValues,
  updated: Fragment,
): { readonly differs: Fragment; readonly assignments: readonly Fragment[] } {
  const fields = writableColumns(resource).filter(({ name }) => values.has(name))
  const columns = fields.map(({ name }) => identifier(name))
  const parameters = fields.map(({ name, type }) => sql`${value(values.get(name))}::${parameterTypes[type]}`)
  const assignments = columns.map((column, i) => sql`${column} = ${parameters[i] ?? sql`null`}, `)
  const differs = sql`row(${join(columns, ', ')}) is distinct from row(${join(parameters, ', ')})`
  const custom = ownValues(resource, values, { withNulls: true })
  if (custom === undefined) return { differs: fields.length === 0 ? sql`false` : differs, assignments }
  const patch = sql`${value(custom)}::jsonb`
  const differsOwn = sql`custom is distinct from ${patchedOwn(sql`custom`, patch)}`
  return {
    differs: fields.length === 0 ? differsOwn : sql`(${differs} or ${differsOwn})`,
    assignments: [...assignments, sql`custom = ${patchedOwn(sql`${updated}custom`, patch)}, `],
  }
}

function deleteStatement(
  { scope, resource, id }: Target,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Statement {
  const [account, recordId] = [value(scope.accountId), value(id)]
  const deletion = journaledDelete(
    account,
    resource,
    value(tally.version),
    sql`id = ${recordId}::bigint and ${hasVersion(versions)}`,
  )
  return sql`with ${deletion}, tick as (
  ${tickTally(account, resource, { added: sql`-1`, lastId: sql`t.last_id` }, tally)} and exists (select from gone)
)
select (select version from ${identifier(resource.name)} where account_id = ${account}::bigint and id = ${recordId}::bigint) as version_before,
  exists (select from gone) as deleted`.statement('delete')
}

function hasVersion(versions: readonly string[] | undefined) {
  return versions === undefined ? sql`true` : sql`version = any(${value(versions)}::bigint[])`
}
