import type { Resource } from '../catalog/resources.ts'
import type { Database } from '../postgres/database.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { lockedTally } from './change-record.ts'
import type { CreateBatches } from './create-batches.ts'
import { type Create, type InsertedRow, insertStatement } from './create-statements.ts'
import type { Idempotency, IdempotentWrites, WriteResult, Written } from './idempotency.ts'
import { changeKeys, holdersOf, type KeyValue, keyValues, requireFree } from './record-keys.ts'
import type { EtagOf } from './record-values.ts'
import { recordsExhausted } from './records-quota.ts'

export interface CreateParts {
  readonly database: Database
  readonly creates: CreateBatches
  readonly idempotent: IdempotentWrites
}

/** Creates a record with the next id. */
export async function createRecord(
  parts: CreateParts,
  resource: Resource,
  create: Create,
  { etagOf, idempotency }: { readonly etagOf: EtagOf; readonly idempotency: Idempotency | undefined },
): Promise<Written> {
  const resultOf = (row: InsertedRow | undefined): WriteResult => {
    if (row === undefined) throw recordsExhausted(resource, create.recordsMax)
    return { id: row.id, status: 201, etag: etagOf(row.id, row), record: null }
  }
  if (mayHaveKeys(resource, create)) {
    return await parts.idempotent.run(create.scope, idempotency, async (transaction) =>
      resultOf(await insertWithKeys(transaction, resource, create)),
    )
  }
  if (idempotency === undefined) {
    const insert = await parts.database.form(insertBatched)
    return { ...resultOf(await insert(parts, resource, create)), replayed: false }
  }
  return await parts.idempotent.run(create.scope, idempotency, async (transaction) =>
    resultOf(await transaction.form(insertRecord)(transaction, resource, create)),
  )
}

/**
 * Whether the record has a unique value, or one of a field that may have become unique since the request was verified. An account
 * without definitions has none; its first unique field is built only when such requests have ended.
 */
function mayHaveKeys({ schema, fields }: Resource, { values }: Create): boolean {
  if (schema === undefined) return false
  return fields.some(
    ({ name, key, canBeUnique }) => (key !== undefined || canBeUnique === true) && values.get(name) != null,
  )
}

async function insertWithKeys(
  transaction: Transaction,
  resource: Resource,
  create: Create,
): Promise<InsertedRow | undefined> {
  const { scope, values } = create
  await lockedTally(transaction, { scope, resource })
  const keys = keyValues(resource, values)
  requireFree(resource, keys, await holdersOf(transaction, scope, resource, keys))
  return await insertHolding(transaction, resource, create, keys)
}

/** Inserts a record and its unique values, which no record has. */
export async function insertHolding(
  transaction: Transaction,
  resource: Resource,
  create: Create,
  keys: readonly KeyValue[],
): Promise<InsertedRow | undefined> {
  const row = await transaction.form(insertRecord)(transaction, resource, create)
  if (row === undefined) return undefined
  const added = keys.map((key) => ({ ...key, id: row.id }))
  await changeKeys(transaction, create.scope, resource, { removed: [], added })
  return row
}

/** Together with creates of other accounts. Resolves to undefined, or rejects, if the account is at its quota. */
export function insertBatched(
  { creates }: CreateParts,
  resource: Resource,
  create: Create,
): Promise<InsertedRow | undefined> {
  return creates.create(resource, create)
}

/** Undefined if the account is at its quota. */
export async function insertRecord(
  transaction: Transaction,
  resource: Resource,
  create: Create,
): Promise<InsertedRow | undefined> {
  const [row] = await transaction.run<InsertedRow>(insertStatement(resource, create))
  return row
}
