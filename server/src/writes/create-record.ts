import type { Resource } from '../catalog/resources.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { CreateBatches } from './create-batches.ts'
import { type Create, type InsertedRow, insertStatement } from './create-statements.ts'
import { type Idempotency, type WriteResult, type Written, writeOnce } from './idempotency.ts'
import type { EtagOf } from './record-values.ts'

/** Creates a record with the next id. */
export async function createRecord(
  { database, batches }: { readonly database: Database; readonly batches: CreateBatches },
  resource: Resource,
  create: Create,
  { etagOf, idempotency }: { readonly etagOf: EtagOf; readonly idempotency: Idempotency | undefined },
): Promise<Written> {
  const resultOf = (row: InsertedRow | undefined): WriteResult => {
    if (row === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
    return { id: row.id, status: 201, etag: etagOf(row.id, row), record: null }
  }
  if (idempotency === undefined)
    return { ...resultOf(await batches.create(resource, create)), replayed: false }
  const { scope, values } = create
  return await writeOnce(database, scope, idempotency, async (transaction: Transaction) => {
    const [row] = await transaction.run<InsertedRow>(insertStatement(scope, resource, values))
    return resultOf(row)
  })
}
