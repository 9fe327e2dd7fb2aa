import { perResource, type Resource } from '../catalog/resources.ts'
import type { WriteBy } from '../import/statements.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { recordJson } from '../query/sql/record-json.ts'
import type { AccountScope } from '../scope.ts'
import {
  type Fragment,
  identifier,
  join,
  placeholder,
  prepared,
  sql,
  type Template,
  type Value,
  value,
} from '../sql.ts'
import { patchOf } from '../writes/change-record.ts'
import type { CreateParts } from '../writes/create-record.ts'
import {
  type Create,
  type InsertedRow,
  insertedColumns,
  tickOfCreate,
  valuesOf,
} from '../writes/create-statements.ts'
import { hasImages, imageColumns } from '../writes/journal.ts'
import type { DeleteRow, PatchRow, Target } from '../writes/record-change.ts'
import type { RecordValues } from '../writes/record-values.ts'
import { dateOf, type LockedTally, tickTally } from '../writes/tick.ts'
import { lockTallyWithSeries } from './lock-tally.ts'

/**
 * The writes of single records. A statement with several writes would be pulled apart by the node that plans it, and committed in two
 * phases: 5.9 ms of CPU for a create. Here each statement writes one table of one account, so that the transaction has one
 * worker, which commits it alone. The lock of the tally makes the statements see what a single one would.
 */

/** Creates of several accounts in one transaction would need two-phase commit. */
export async function insertOwnTransaction(
  { database }: CreateParts,
  resource: Resource,
  create: Create,
): Promise<InsertedRow | undefined> {
  return await database.writeTo(create.scope, (transaction) =>
    insertRecordByTable(transaction, resource, create),
  )
}

export async function insertRecordByTable(
  transaction: Transaction,
  resource: Resource,
  { scope, author, values, custom, recordsMax }: Create,
): Promise<InsertedRow | undefined> {
  const tally = await lockTallyWithSeries(transaction, scope, resource)
  if (tally === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  if (Number(tally.total) >= recordsMax) return undefined
  const { version, written_at: writtenAt } = tally
  const id = String(BigInt(tally.own_last_id ?? tally.last_id) + 1n)
  const tick = tickTally(value(scope.accountId), resource, tickOfCreate, tally)
  // Citus keeps the plan of a statement on one table, and chooses the shard when it runs.
  await transaction.run(prepared(tick.statement('create')))
  const inserted = [scope.accountId, id, version, writtenAt, author, ...valuesOf(resource, values)]
  const { plain, own } = inserts[resource.name]
  await transaction.run(custom === undefined ? plain(inserted) : own([...inserted, custom]))
  return { id, version, lineage: lineageOf(tally) }
}

/** The lineage of the write that has locked the tally. */
function lineageOf({ series }: LockedTally): string {
  if (series === undefined) throw new Error('the tally was locked without its series')
  return series.lineage
}

/** The time is a value: Citus evaluates a function of an INSERT each time, and then also plans it each time. */
function insertTemplate(resource: Resource, withOwn: boolean): Template {
  const fields = insertedColumns(resource, withOwn)
  const [account, id, version, now] = [placeholder(), placeholder(), placeholder(), placeholder()]
  const author = placeholder()
  const values = fields.map(() => placeholder())
  const columns = fields.map(({ name }) => identifier(name))
  const parameters = fields.map(({ type }, i) => sql`${values[i] ?? account}::${type}`)
  return sql`insert into ${identifier(resource.name)} (account_id, id, version, created_version, ${join(columns, ', ')}, create_date, write_date, created_by, changed_by)
values (${account}::bigint, ${id}::bigint, ${version}::bigint, ${version}::bigint, ${join(parameters, ', ')}, ${now}::timestamptz, ${now}::timestamptz, ${author}::text, ${author}::text)`.template(
    [account, id, version, now, author, ...values],
    'create',
    'generic',
  )
}

const inserts = perResource((resource) => ({
  plain: insertTemplate(resource, false),
  own: insertTemplate(resource, true),
}))

export async function patchLockedByTable(
  transaction: Transaction,
  { scope, resource, author, id }: Target,
  values: RecordValues,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Promise<PatchRow | undefined> {
  const account = value(scope.accountId)
  const table = identifier(resource.name)
  const record = sql`account_id = ${account}::bigint and id = ${value(id)}::bigint`
  const { differs, assignments } = patchOf(resource, values, sql``)
  const [before] = await transaction.run<{ version: string; differs: boolean }>(
    sql`select version::text as version, ${differs} as differs from ${table} where ${record}`.statement(
      'update',
    ),
  )
  if (before === undefined) return undefined
  const changes = before.differs && (versions === undefined || versions.includes(before.version))
  if (changes) {
    await insertImages(transaction, account, resource, tally.version, sql`id = ${value(id)}::bigint`)
    await transaction.run(
      sql`update ${table} set ${join(assignments, '')}version = ${value(tally.version)}::bigint, write_date = ${dateOf(tally)}, changed_by = ${value(author)}::text
where ${record}`.statement('update'),
    )
    const tick = { added: sql`0`, lastId: sql`t.last_id` }
    await transaction.run(tickTally(account, resource, tick, tally).statement('update'))
  }
  // RETURNING cannot have the JSON: Citus accepts only immutable functions there.
  const [after] = await transaction.run<{ version: string; record: string }>(
    sql`select r.version::text as version, ${recordJson(resource.fields)} as record from ${table} r where ${record}`.statement(
      'update',
    ),
  )
  return {
    version_before: before.version,
    lineage: changes ? lineageOf(tally) : null,
    version: after?.version ?? null,
    record: after?.record ?? null,
  }
}

export async function deleteLockedByTable(
  transaction: Transaction,
  { scope, resource, author, id }: Target,
  tally: LockedTally,
  versions: readonly string[] | undefined,
): Promise<DeleteRow | undefined> {
  const account = value(scope.accountId)
  const [before] = await transaction.run<{ version: string }>(
    sql`select version::text as version from ${identifier(resource.name)}
where account_id = ${account}::bigint and id = ${value(id)}::bigint`.statement('delete'),
  )
  if (before === undefined) return undefined
  const matches = versions === undefined || versions.includes(before.version)
  if (matches) {
    await deleteIds(transaction, scope, resource, { version: tally.version, author }, [id])
    const tick = { added: sql`-1`, lastId: sql`t.last_id` }
    await transaction.run(tickTally(account, resource, tick, tally).statement('delete'))
  }
  return { version_before: before.version, deleted: matches }
}

/** Deletes the records with these ids, which exist, and journals them. */
export async function deleteIds(
  transaction: Pick<Transaction, 'run'>,
  { accountId }: AccountScope,
  resource: Resource,
  { version, author }: WriteBy,
  ids: readonly string[],
): Promise<void> {
  const account = value(accountId)
  const deleted = sql`id = any(${value(ids)}::bigint[])`
  const table = identifier(resource.name)
  await transaction.run(
    sql`insert into tombstone (account_id, resource, version, id, deleted_by)
select account_id, ${value(resource.name)}::text, ${value(version)}::bigint, id, ${value(author)}::text from ${table}
where account_id = ${account}::bigint and ${deleted}`.statement('delete'),
  )
  if (hasImages(ids.length)) await insertImages(transaction, account, resource, version, deleted)
  await transaction.run(
    sql`delete from ${table} where account_id = ${account}::bigint and ${deleted}`.statement('delete'),
  )
}

/** Before-images of the records that match `condition`, in addition to the account, as they are before the write. */
export async function insertImages(
  transaction: Pick<Transaction, 'run'>,
  account: Value,
  resource: Resource,
  version: string,
  condition: Fragment,
): Promise<void> {
  const { columns, values } = imageColumns(resource)
  await transaction.run(
    sql`insert into ${identifier(`${resource.name}_before`)} (account_id, version, ${columns})
select account_id, ${value(version)}::bigint, ${values} from ${identifier(resource.name)}
where account_id = ${account}::bigint and ${condition}`.statement('update'),
  )
}
