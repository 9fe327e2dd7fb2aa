import type { Resource } from '../catalog/resources.ts'
import { Failure, internalError } from '../errors/errors.ts'
import { excerpt, Faults } from '../errors/faults.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { recordJson } from '../query/sql/record-json.ts'
import { identifier, sql, value } from '../sql.ts'
import { lockedTally, patched } from './change-record.ts'
import { insertHolding } from './create-record.ts'
import type { IdempotentWrites, WriteResult, Written } from './idempotency.ts'
import type { AddressedTarget } from './record-change.ts'
import { holdersOf, type KeyValue, keyValues, nameOfKey, requireFree } from './record-keys.ts'
import { type EtagOf, ownValues, type RecordValues, writableFields } from './record-values.ts'
import { recordsExhausted } from './records-quota.ts'

export interface UpsertTarget extends Omit<AddressedTarget, 'address'> {
  readonly key: KeyValue
  /** If-Match: a record that does not exist is not created. */
  readonly mustExist: boolean
  /** If-None-Match: a record that exists is not changed. */
  readonly mustBeNew: boolean
  /** Of the resource, after the record was created. */
  readonly recordsMax: number
}

/**
 * Changes the record with this key, or creates it. Both are decided under the lock of the tally, so that any number of clients that
 * send the same key make one record.
 */
export async function upsertRecord(
  idempotent: IdempotentWrites,
  { key, mustExist, mustBeNew, recordsMax, ...target }: UpsertTarget,
  values: RecordValues,
  etagOf: EtagOf,
): Promise<Written> {
  const { scope, resource, author, idempotency } = target
  return await idempotent.run(scope, idempotency, async (transaction) => {
    const tally = await lockedTally(transaction, target)
    const wanted = keyValues(resource, values)
    const holders = await holdersOf(transaction, scope, resource, [key, ...wanted])
    const id = holders.get(nameOfKey(key))
    if (id !== undefined) {
      if (mustBeNew) throw exists(resource, key, id)
      return await patched(transaction, { ...target, id }, values, tally, etagOf)
    }
    if (mustExist) throw missing(resource, key)
    requireFree(resource, wanted, holders)
    requireComplete(resource, key, values)
    const custom = ownValues(resource, values, { withNulls: false })
    const row = await insertHolding(
      transaction,
      resource,
      { scope, author, values, custom, recordsMax },
      wanted,
    )
    if (row === undefined) throw recordsExhausted(resource, recordsMax)
    const record = await recordOf(transaction, target, row.id)
    return { id: row.id, status: 201, etag: etagOf(row.id, row), record } satisfies WriteResult
  })
}

async function recordOf(
  transaction: Transaction,
  { scope, resource }: Pick<UpsertTarget, 'scope' | 'resource'>,
  id: string,
): Promise<string> {
  const [row] = await transaction.run<{ record: string }>(
    sql`select ${recordJson(resource.fields)} as record from ${identifier(resource.name)} r
where account_id = ${value(scope.accountId)}::bigint and id = ${value(id)}::bigint`.statement('update'),
  )
  if (row === undefined) throw internalError()
  return row.record
}

/** A patch need not have the required fields, but a new record has them. */
function requireComplete(resource: Resource, { field, value: text }: KeyValue, values: RecordValues): void {
  const faults = new Faults()
  for (const { name, absent } of writableFields(resource)) {
    if (absent !== 'required' || values.has(name)) continue
    faults.add(() => ({
      pointer: `/${name}`,
      code: 'member_required',
      message: `${name} is missing. No ${resource.noun} has the ${field.name} ${JSON.stringify(excerpt(text))}, so this request creates one.`,
    }))
  }
  faults.throwIfAny('body_invalid')
}

function missing({ noun }: Resource, { field, value: text }: KeyValue): Failure {
  return new Failure(
    'precondition_failed',
    `No ${noun} has the ${field.name} ${JSON.stringify(excerpt(text))}. Nothing was written. Omit If-Match to create it.`,
  )
}

function exists({ noun }: Resource, { field, value: text }: KeyValue, id: string): Failure {
  return new Failure(
    'precondition_failed',
    `The ${noun} ${id} has the ${field.name} ${JSON.stringify(excerpt(text))} already. Nothing was written. Omit If-None-Match to change it.`,
  )
}
