import type { Resource } from '../catalog/resources.ts'
import type { Database } from '../postgres/database.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { CreateBatches } from './create-batches.ts'
import { type Create, type InsertedRow, insertStatement } from './create-statements.ts'
import type { Idempotency, IdempotentWrites, WriteResult, Written } from './idempotency.ts'
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
  if (idempotency === undefined) {
    const insert = await parts.database.form(insertBatched)
    return { ...resultOf(await insert(parts, resource, create)), replayed: false }
  }
  return await parts.idempotent.run(create.scope, idempotency, async (transaction) =>
    resultOf(await transaction.form(insertRecord)(transaction, resource, create)),
  )
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
