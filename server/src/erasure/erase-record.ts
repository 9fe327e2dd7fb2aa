import { type Actor, auditStatement, requireAuditQuota } from '../accounts/audit.ts'
import { operatorAuthor } from '../catalog/authors.ts'
import { type Resource, resources } from '../catalog/resources.ts'
import { recordUnknown } from '../errors/errors.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../sql.ts'
import { lockedTally } from '../writes/change-record.ts'
import { changeKeys, storedKeys } from '../writes/record-keys.ts'
import { tickTally } from '../writes/tick.ts'
import { storeErasure } from './erasure.ts'
import { type ErasedRecord, isOf, removals } from './places.ts'

/** What the caller knows about the person besides the record, such as an earlier email address. */
export interface EraseOptions {
  readonly actor: Actor
  readonly terms?: readonly string[]
}

/**
 * Removes a record and everything that is found by its id, without a before-image, and begins the search for its values in what is
 * not. It can be repeated: a record that was deleted or erased before is searched for again. `record.resource` must have the fields that
 * the account has declared.
 */
export async function eraseRecord(
  transaction: Transaction,
  record: ErasedRecord,
  { actor, terms = [] }: EraseOptions,
): Promise<void> {
  const { resource, id } = record
  const scope = { accountId: record.accountId }
  await requireAuditQuota(transaction, scope, actor)
  const tally = await lockedTally(transaction, { scope, resource })
  const [stored] = await storedKeys(transaction, scope, resource, [id])
  const [known] = await transaction.run<{ deleted: boolean; erased: boolean }>(traces(record))
  if (stored === undefined && known?.deleted !== true && known?.erased !== true)
    throw recordUnknown(resource.noun, id)
  const found = await transaction.run<{ term: string }>(termsStatement(record))
  for (const statement of removals(record)) await transaction.run(statement)
  await changeKeys(transaction, scope, resource, { removed: stored?.keys ?? [], added: [] })
  const isNew = stored !== undefined || known?.erased !== true
  if (isNew) {
    // Receivers that know the record as deleted learn that it was erased.
    await transaction.run(tombstone(record, tally.version, actor))
    const tick = {
      added: stored === undefined ? sql`0` : sql`-1`,
      lastId: sql`t.last_id`,
      withoutImages: true,
    }
    await transaction.run(tickTally(value(scope.accountId), resource, tick, tally).statement('delete'))
  }
  const key = { ...scope, resource: resource.name, id }
  await transaction.run(
    storeErasure(key, sql`t.version`, actor, [...terms, ...found.map(({ term }) => term)]),
  )
  const change = { action: 'record.erase', subject: `${resource.name} ${id}`, details: null } as const
  await transaction.run(auditStatement(scope, actor, change))
}

/** Whether the record was deleted lately, and whether it was erased. */
function traces(record: ErasedRecord): Statement {
  const { accountId, resource, id } = record
  const ofResource = sql`account_id = ${value(accountId)}::bigint and resource = ${value(resource.name)}::text and id = ${value(id)}::bigint`
  return sql`select exists (select from tombstone where ${ofResource}) as deleted,
  exists (select from erasure where ${ofResource}) as erased`.statement('delete')
}

function tombstone({ accountId, resource, id }: ErasedRecord, version: string, by: Actor): Statement {
  const author = by.kind === 'key' ? by.id : operatorAuthor
  return sql`insert into tombstone (account_id, resource, version, id, erased, deleted_by)
values (${value(accountId)}::bigint, ${value(resource.name)}::text, ${value(version)}::bigint, ${value(id)}::bigint, true, ${value(author)}::text)`.statement(
    'delete',
  )
}

/** The texts and numbers of the record and of its before-images. `true` is in every second filter, and identifies nobody. */
function termsStatement(record: ErasedRecord): Statement {
  const { name } = record.resource
  const parts = [identifier(name), identifier(`${name}_before`)].flatMap((table) => [
    sql`select v.term from ${table} r cross join lateral unnest(array[${textColumns(record.resource)}]::text[]) v(term) where ${isOf(record)}`,
    sql`select v.term from ${table} r cross join lateral jsonb_each_text(r.custom) v(field, term) where ${isOf(record)}`,
  ])
  return sql`select distinct term from (${join(parts, ' union all ')}) terms
where term <> '' and term not in ('true', 'false')`.statement('delete')
}

function textColumns({ name }: Resource): Fragment {
  const texts = resources[name].fields.filter(({ type }) => type === 'text')
  return join(
    texts.map((field) => sql`r.${identifier(field.name)}`),
    ', ',
  )
}
