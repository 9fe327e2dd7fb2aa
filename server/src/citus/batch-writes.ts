import type pg from 'pg'
import type { Resource } from '../catalog/resources.ts'
import type { BatchWrites, Run } from '../import/batch-writes.ts'
import * as statements from '../import/statements.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import { hasImages } from '../writes/journal.ts'
import { deleteIds, insertImages } from './writes.ts'

/** Each statement writes one table, and none joins a temporary table with a table of accounts except on a list of ids. */
export const batchWritesByTable: BatchWrites = {
  async update(run, scope, resource, batch) {
    const changed = (await run<{ id: string }>(statements.changedIds(scope, resource, batch))).rows
    if (changed.length === 0) return 0
    const ids = changed.map(({ id }) => id)
    const listed = sql`id = any(${value(ids)}::bigint[])`
    if (hasImages(ids.length))
      await insertImages(transactionOf(run), value(scope.accountId), resource, batch.version, listed)
    return (await run(statements.updateStaged(scope, resource, { ...batch, ids }))).rowCount ?? 0
  },
  async delete(run, scope, resource, { ids, ...by }) {
    const found = await run<{ id: string }>(statements.existing(scope, resource, ids))
    return await deleteFound(run, scope, resource, by, found)
  },
  async findMissing(run, scope, resource, replaced) {
    await run(sql`create temp table import_found (id bigint)`.statement())
    await run(
      sql`insert into import_found select id from ${identifier(resource.name)}
where account_id = ${value(scope.accountId)}::bigint and ${statements.isReplaced(replaced)}`.statement(),
    )
    const { rowCount } = await run(
      sql`insert into import_missing (n, id) select row_number() over (order by t.id), t.id from import_found t
where not exists (select from import_ids s where s.id = t.id)`.statement(),
    )
    await run(sql`drop table import_found`.statement())
    return rowCount ?? 0
  },
  async deleteMissing(run, scope, resource, { versionBefore, from, to, ...by }) {
    const missing = await run<{ id: string }>(
      sql`select id::text as id from import_missing where n between ${value(from)}::bigint and ${value(to)}::bigint`.statement(),
    )
    const ids = missing.rows.map(({ id }) => id)
    const found = await run<{ id: string }>(
      sql`select id::text as id from ${identifier(resource.name)} where account_id = ${value(scope.accountId)}::bigint
  and version <= ${value(versionBefore)}::bigint and id = any(${value(ids)}::bigint[])`.statement(),
    )
    return await deleteFound(run, scope, resource, by, found)
  },
}

async function deleteFound(
  run: Run,
  scope: AccountScope,
  resource: Resource,
  by: statements.WriteBy,
  { rows }: pg.QueryResult<{ id: string }>,
): Promise<number> {
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await deleteIds(transactionOf(run), scope, resource, by, ids)
  return ids.length
}

function transactionOf(run: Run) {
  return {
    run: async <Row extends pg.QueryResultRow>(statement: Statement) => (await run<Row>(statement)).rows,
  }
}
