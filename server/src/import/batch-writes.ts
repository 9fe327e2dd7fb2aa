import type pg from 'pg'
import type { Resource } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import * as statements from './statements.ts'

/** Runs a statement on the connection of the import. */
export type Run = <Row extends pg.QueryResultRow>(statement: Statement) => Promise<pg.QueryResult<Row>>

/** What a batch writes, besides new records. Each returns the number of records. */
export interface BatchWrites {
  update(run: Run, scope: AccountScope, resource: Resource, batch: statements.StagedBatch): Promise<number>
  delete(
    run: Run,
    scope: AccountScope,
    resource: Resource,
    batch: statements.WriteBy & { readonly ids: readonly string[] },
  ): Promise<number>
  /** Stores the ids to delete in `import_missing`. */
  findMissing(
    run: Run,
    scope: AccountScope,
    resource: Resource,
    replaced: statements.Replaced,
  ): Promise<number>
  deleteMissing(
    run: Run,
    scope: AccountScope,
    resource: Resource,
    batch: statements.MissingBatch,
  ): Promise<number>
}

export const batchWrites: BatchWrites = {
  update: async (run, scope, resource, batch) =>
    (await run(statements.update(scope, resource, batch))).rowCount ?? 0,
  delete: async (run, scope, resource, { ids, ...by }) =>
    deletedBy(await run(statements.deleteIds(scope, resource, by, ids))),
  findMissing: async (run, scope, resource, replaced) =>
    (await run(statements.findMissing(scope, resource, replaced))).rowCount ?? 0,
  deleteMissing: async (run, scope, resource, batch) =>
    deletedBy(await run(statements.deleteMissing(scope, resource, batch))),
}

function deletedBy({ rows: [row] }: pg.QueryResult<{ deleted?: number }>): number {
  return row?.deleted ?? 0
}
