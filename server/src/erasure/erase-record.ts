import { type Actor, auditStatement, requireAuditQuota } from '../accounts/audit.ts'
import { operatorAuthor } from '../catalog/authors.ts'
import { type Resource, resources } from '../catalog/resources.ts'
import { recordUnknown } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../sql.ts'
import { lockedTally } from '../writes/change-record.ts'
import { changeKeys, storedKeys } from '../writes/record-keys.ts'
import { tickTally } from '../writes/tick.ts'
import { insertErasure, updateErasure } from './erasure.ts'
import { boundedTerms } from './logged-values.ts'
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
  const [earlier] = await transaction.run<{ terms: string[] | null }>(
    sql`select terms from erasure where ${ofResource(record)}`.statement('delete'),
  )
  if (stored === undefined && earlier === undefined && !(await wasDeleted(transaction, record)))
    throw recordUnknown(resource.noun, id)
  const found = await transaction.run<{ term: string }>(termsStatement(record))
  for (const statement of removals(record)) await transaction.run(statement)
  await changeKeys(transaction, scope, resource, { removed: stored?.keys ?? [], added: [] })
  // Without a record there may still be before-images, by which totals are carried.
  const isNew = stored !== undefined || earlier === undefined || found.length > 0
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
  const known = new Set([...terms, ...found.map(({ term }) => term), ...(earlier?.terms ?? [])])
  const version = isNew ? tally.version : String(BigInt(tally.version) - 1n)
  const erasure = {
    ...scope,
    resource: resource.name,
    id,
    version,
    by: actor,
    terms: boundedTerms([...known]),
  }
  await transaction.run(earlier === undefined ? insertErasure(erasure) : updateErasure(erasure))
  const change = { action: 'record.erase', subject: `${resource.name} ${id}`, details: null } as const
  await transaction.run(auditStatement(scope, actor, change))
}

function ofResource({ accountId, resource, id }: ErasedRecord): Fragment {
  return sql`account_id = ${value(accountId)}::bigint and resource = ${value(resource.name)}::text and id = ${value(id)}::bigint`
}

/** Lately: a tombstone stays for a month. */
async function wasDeleted({ run }: Pick<Transaction, 'run'>, record: ErasedRecord): Promise<boolean> {
  const rows = await run(
    sql`select id from tombstone where ${ofResource(record)} limit 1`.statement('delete'),
  )
  return rows.length > 0
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
where term <> '' and term not in ('true', 'false') limit ${value(limits.erasureTermsMax + 1)}::int`.statement(
    'delete',
  )
}

function textColumns({ name }: Resource): Fragment {
  const texts = resources[name].fields.filter(({ type }) => type === 'text')
  return join(
    texts.map((field) => sql`r.${identifier(field.name)}`),
    ', ',
  )
}
