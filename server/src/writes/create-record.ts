import type { Resource } from '../catalog/resources.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { Topology } from '../topology.ts'
import type { CreateBatches } from './create-batches.ts'
import { type Create, type InsertedRow, insertStatement } from './create-statements.ts'
import { createDistributed } from './distributed-writes.ts'
import { type Idempotency, type WriteResult, type Written, writeOnce } from './idempotency.ts'
import type { EtagOf } from './record-values.ts'
import { recordsExhausted } from './records-quota.ts'

/** Creates a record with the next id. */
export async function createRecord(
  { database, batches }: { readonly database: Database; readonly batches: CreateBatches },
  resource: Resource,
  create: Create,
  { etagOf, idempotency }: { readonly etagOf: EtagOf; readonly idempotency: Idempotency | undefined },
): Promise<Written> {
  const resultOf = (row: InsertedRow | undefined): WriteResult => {
    if (row === undefined) throw recordsExhausted(resource, create.recordsMax)
    return { id: row.id, status: 201, etag: etagOf(row.id, row), record: null }
  }
  const inTransaction = async (transaction: Transaction) =>
    resultOf(await creates[transaction.topology](transaction, resource, create))
  // On Citus, creates of several accounts in one transaction would need two-phase commit.
  if (idempotency === undefined && (await database.topology()) === 'single')
    return { ...resultOf(await batches.create(resource, create)), replayed: false }
  return await writeOnce(database, create.scope, idempotency, inTransaction)
}

const creates: Record<
  Topology,
  (transaction: Transaction, resource: Resource, create: Create) => Promise<InsertedRow | undefined>
> = {
  single: async (transaction, resource, create) =>
    (await transaction.run<InsertedRow>(insertStatement(resource, create)))[0],
  distributed: createDistributed,
}
