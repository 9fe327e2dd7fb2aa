import { keyFieldsOf } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure, keyValueUnknown, recordUnknown } from '../errors/errors.ts'
import { excerpt } from '../errors/faults.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { patchedOwn } from '../query/sql/field-columns.ts'
import { parameterTypes } from '../query/sql/parameter-types.ts'
import { recordJson } from '../query/sql/record-json.ts'
import { type Fragment, identifier, join, prepared, type Statement, sql, value } from '../sql.ts'
import { currentLineage, isValidPosition, type Lineages, positionOfEtag } from '../tally-state.ts'
import type { IdempotentWrites, WriteResult, Written } from './idempotency.ts'
import { insertImages, journaledDelete, trimJournal } from './journal.ts'
import type { AddressedTarget, DeleteRow, PatchRow, Target } from './record-change.ts'
import {
  changeKeys,
  holdersOf,
  type KeyChanges,
  keyChanges,
  keyValues,
  nameOfKey,
  requireFree,
  requireSameFields,
  storedKeys,
} from './record-keys.ts'
import { type EtagOf, ownValues, type RecordValues, writableColumns } from './record-values.ts'
import { checkedSums, type SumsRow, sumsStatement } from './sums.ts'
import { dateOf, type LockedTally, lockTally, tickTally } from './tick.ts'

/** Sets the fields in `values`. If they have these values already, nothing is written and the version stays. */
export async function patchRecord(
  idempotent: IdempotentWrites,
  addressed: AddressedTarget,
  values: RecordValues,
  etagOf: EtagOf,
): Promise<Written> {
  const { scope, idempotency } = addressed
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const { target, tally } = await locked(transaction, addressed)
    return await patched(transaction, target, values, tally, etagOf)
  })
}

/**
 * Adds to the fields in `deltas`. They are read after the tally was locked, so no other writer changes them before the sums are
 * written: adjustments of any number of clients add up.
 */
export async function adjustRecord(
  idempotent: IdempotentWrites,
  addressed: AddressedTarget,
  deltas: RecordValues,
  etagOf: EtagOf,
): Promise<Written> {
  const { scope, resource, idempotency } = addressed
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const { target, tally } = await locked(transaction, addressed)
    const [row] = await transaction.run<SumsRow>(prepared(sumsStatement(target, deltas)))
    if (row === undefined) throw recordUnknown(resource.noun, target.id)
    requireMatch(resource, row.version, matchingVersions(target, tally))
    return await patched(transaction, target, checkedSums(resource, deltas, row), tally, etagOf)
  })
}

export async function patched(
  transaction: Transaction,
  target: Target,
  values: RecordValues,
  tally: LockedTally,
  etagOf: EtagOf,
): Promise<WriteResult> {
  const { scope, resource, id } = target
  const versions = matchingVersions(target, tally)
  const keys = await changesOfKeys(transaction, target, values, versions)
  const row = await transaction.form(patchLocked)(transaction, target, values, tally, versions)
  if (row?.version_before == null || row.version === null) throw recordUnknown(resource.noun, id)
  requireMatch(resource, row.version_before, versions)
  await changeKeys(transaction, scope, resource, keys)
  if (row.lineage !== null) await trim(transaction, target, tally)
  const lineage = row.lineage ?? currentLineage(tally)
  const etag = etagOf(id, { version: row.version, lineage })
  return { id, status: 200, etag, record: row.record }
}

export async function deleteRecord(
  idempotent: IdempotentWrites,
  addressed: AddressedTarget,
): Promise<Written> {
  const { scope, resource, idempotency } = addressed
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const { target, tally } = await locked(transaction, addressed)
    const { id } = target
    const versions = matchingVersions(target, tally)
    const keys = await keysOf(transaction, target)
    const row = await transaction.form(deleteLocked)(transaction, target, tally, versions)
    if (row?.version_before == null) throw recordUnknown(resource.noun, id)
    requireMatch(resource, row.version_before, versions)
    await changeKeys(transaction, scope, resource, { removed: keys?.keys ?? [], added: [] })
    await trim(transaction, target, tally)
    return { id, status: 204, etag: null, record: null } satisfies WriteResult
  })
}

/** Locks the tally, and finds the record. */
async function locked(
  transaction: Transaction,
  { address, ...target }: AddressedTarget,
): Promise<{ readonly target: Target; readonly tally: LockedTally }> {
  const { scope, resource } = target
  const tally = await lockedTally(transaction, target)
  if ('id' in address) return { target: { ...target, id: address.id }, tally }
  const { key } = address
  const id = (await holdersOf(transaction, scope, resource, [key])).get(nameOfKey(key))
  if (id === undefined) throw keyValueUnknown(resource.noun, key.field.name, excerpt(key.value))
  return { target: { ...target, id }, tally }
}

export async function lockedTally(
  transaction: Transaction,
  { scope, resource }: Pick<AddressedTarget, 'scope' | 'resource'>,
): Promise<LockedTally> {
  const tally = await transaction.form(lockTally)(transaction, scope, resource)
  if (tally === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  requireSameFields(scope, resource, tally)
  return tally
}

/** The unique values that the record has. Undefined if no field is unique, or if there is no record. */
async function keysOf(transaction: Transaction, { scope, resource, id }: Target) {
  if (keyFieldsOf(resource).length === 0) return undefined
  const [stored] = await storedKeys(transaction, scope, resource, [id])
  return stored
}

/** How a patch changes the unique values of the record. Throws if another record has one of the new values. */
async function changesOfKeys(
  transaction: Transaction,
  target: Target,
  values: RecordValues,
  versions: readonly string[] | undefined,
): Promise<KeyChanges> {
  const { scope, resource, id } = target
  if (!keyFieldsOf(resource).some(({ name }) => values.has(name))) return { removed: [], added: [] }
  const stored = await keysOf(transaction, target)
  if (stored === undefined) throw recordUnknown(resource.noun, id)
  requireMatch(resource, stored.version, versions)
  const changes = keyChanges(
    stored.keys.filter(({ field }) => values.has(field.name)),
    keyValues(resource, values).map((key) => ({ ...key, id })),
  )
  const holders = await holdersOf(transaction, scope, resource, changes.added)
  requireFree(resource, changes.added, holders)
  return changes
}

async function trim(
  transaction: Transaction,
  { scope, resource }: Target,
  { version }: LockedTally,
): Promise<void> {
  for (const statement of trimJournal(scope, resource, version, 1)) await transaction.run(prepared(statement))
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
    `The ${noun} no longer has the ETag in If-Match. Nothing was written. Read it again, and repeat the change if it still applies.`,
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
  const [row] = await transaction.run<PatchRow>(prepared(patchStatement(target, values, tally, versions)))
  return row
}

export async function deleteLocked(
  transaction: Transaction,
  target: Target,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Promise<DeleteRow | undefined> {
  const [row] = await transaction.run<DeleteRow>(prepared(deleteStatement(target, tally, versions)))
  return row
}

/** Runs after the tally was locked, so that the before-image is what the previous writer left. */
function patchStatement(
  { scope, resource, author, id }: Target,
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
  update ${table} t set ${join(assignments, '')}version = ${version}::bigint, write_date = ${dateOf(tally)}, changed_by = ${value(author)}::text
  where t.account_id = ${account}::bigint and t.id = ${recordId}::bigint and exists (select from changed)
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
  { scope, resource, author, id }: Target,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Statement {
  const [account, recordId] = [value(scope.accountId), value(id)]
  const deletion = journaledDelete(
    account,
    resource,
    { version: value(tally.version), author: value(author) },
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
