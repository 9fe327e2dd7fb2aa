import { setImmediate as nextIteration } from 'node:timers/promises'
import { auditStatement } from '../accounts/audit.ts'
import { resources } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import { keyTable } from '../writes/record-keys.ts'
import { countErased, type Erasure, isErasure } from './erasure.ts'
import { ErasedValues, everything, type LoggedTexts } from './logged-values.ts'
import { type ErasedRecord, isOf, removals } from './places.ts'

/** Runs one step, in a transaction. */
export type Write = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>

/**
 * Searches for values of an erased record in everything that is not found by its id. Each step is a transaction with a bounded number of
 * rows; no position is stored, so a search that was killed begins again. The search after `isSettled` is the last one: then the values
 * are forgotten. Until then processes may still write log entries of earlier requests.
 */
export async function searchErased(write: Write, erasure: Erasure): Promise<void> {
  if (erasure.terms === null) return
  const record = { accountId: erasure.accountId, resource: resources[erasure.resource], id: erasure.id }
  await write((transaction) => removeStrays(transaction, record))
  await paged(write, (transaction, after) => keyStep(transaction, record, after))
  await paged(write, (transaction, after) => resultStep(transaction, erasure, after))
  const values = new ErasedValues(erasure.terms, erasure.resource)
  await paged(write, (transaction, after) => requestStep(transaction, { erasure, values }, after))
  if (erasure.isSettled) await write((transaction) => finish(transaction, erasure))
}

type Step = (transaction: Transaction, after: string | undefined) => Promise<string | undefined>

/** Each step returns the position after which the next one begins. */
async function paged(write: Write, step: Step): Promise<void> {
  for (let after: string | undefined; ; ) {
    const start: string | undefined = after
    after = await write((transaction) => step(transaction, start))
    if (after === undefined) return
  }
}

/** A step for declared fields may have read the record before it was removed. If it exists, it was created again. */
async function removeStrays(transaction: Transaction, record: ErasedRecord): Promise<void> {
  const [existing] = await transaction.run(
    sql`select 1 as one from ${identifier(record.resource.name)} where ${isOf(record)}`.statement('activity'),
  )
  if (existing !== undefined) return
  for (const statement of removals(record)) await transaction.run(statement)
}

/** Unique values that the record no longer had when it was removed. */
async function keyStep(
  transaction: Transaction,
  record: ErasedRecord,
  after: string | undefined,
): Promise<string | undefined> {
  const { accountId, resource } = record
  const [field, text] = after === undefined ? ['0', ''] : splitOnce(after)
  const account = sql`account_id = ${value(accountId)}::bigint`
  const start = sql`(field, value) > (${value(field)}::bigint, ${value(text)}::text)`
  const [last] = await transaction.run<{ field: string; value: string }>(
    sql`select field::text as field, value from ${keyTable(resource)} where ${account} and ${start}
order by field, value offset ${value(limits.erasureStepRows - 1)}::int limit 1`.statement('activity'),
  )
  const end =
    last === undefined
      ? sql`true`
      : sql`(field, value) <= (${value(last.field)}::bigint, ${value(last.value)}::text)`
  const gone = sql`not exists (select from ${identifier(resource.name)} r where r.account_id = ${value(accountId)}::bigint and r.id = ${value(record.id)}::bigint)`
  await transaction.run(
    sql`delete from ${keyTable(resource)} where ${isOf(record)} and ${start} and ${end} and ${gone}`.statement(
      'activity',
    ),
  )
  return last === undefined ? undefined : `${last.field} ${last.value}`
}

function splitOnce(text: string): [string, string] {
  const index = text.indexOf(' ')
  return [text.slice(0, index), text.slice(index + 1)]
}

/**
 * Results of writes to the record lose their content and the hash of the request, so that a retry is neither answered nor repeated. A row
 * whose key has a value of the record is deleted.
 */
async function resultStep(
  transaction: Transaction,
  erasure: Erasure,
  after: string | undefined,
): Promise<string | undefined> {
  const { accountId, resource, id, terms, requestedAt } = erasure
  const account = sql`account_id = ${value(accountId)}::bigint`
  const start = sql`key > ${value(after ?? '')}::text`
  const [last] = await transaction.run<{ key: string }>(
    sql`select key from idempotency where ${account} and ${start}
order by key offset ${value(limits.erasureStepRows - 1)}::int limit 1`.statement('activity'),
  )
  const page =
    last === undefined
      ? sql`${account} and ${start}`
      : sql`${account} and ${start} and key <= ${value(last.key)}::text`
  const named = (terms ?? []).filter((term) => term !== everything && term.length > 2).map(containing)
  const deleted = await transaction.run(
    sql`delete from idempotency where ${page} and lower(key) like any(${value(named)}::text[]) returning 1 as one`.statement(
      'activity',
    ),
  )
  const emptied = await transaction.run(
    sql`update idempotency set request_hash = '', etag = null, body = null
where ${page} and record_id = ${value(id)}::bigint and (resource is null or resource = ${value(resource)}::text)
  and created_at <= ${value(requestedAt)}::timestamptz and octet_length(request_hash) > 0 returning 1 as one`.statement(
      'activity',
    ),
  )
  await count(transaction, erasure, 'idempotency results', deleted.length + emptied.length)
  return last?.key
}

/** A pattern of `like`. */
function containing(term: string): string {
  return `%${term.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
}

interface LoggedRow extends LoggedTexts {
  readonly at: string
  readonly id: string
}

interface RequestSearch {
  readonly erasure: Erasure
  readonly values: ErasedValues
}

async function requestStep(
  transaction: Transaction,
  { erasure, values }: RequestSearch,
  after: string | undefined,
): Promise<string | undefined> {
  const [at, id] = after === undefined ? ['-infinity', ''] : splitOnce(after)
  const rows = await transaction.run<LoggedRow>(
    sql`select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, id, path, query, filter, error_detail from request
where account_id = ${value(erasure.accountId)}::bigint and (at, id) > (${value(at)}::timestamptz, ${value(id)}::text)
order by at, id limit ${value(limits.erasureStepRows)}::int`.statement('activity'),
  )
  const changed: LoggedRow[] = []
  let turn = performance.now()
  for (const row of rows) {
    const without = values.removedFrom(row)
    if (without !== undefined) changed.push({ ...row, ...without })
    if (performance.now() - turn < limits.erasureTurnMs) continue
    await nextIteration()
    turn = performance.now()
  }
  for (const row of changed) await transaction.run(redact(erasure, row))
  await count(transaction, erasure, 'logged requests', changed.length)
  const last = rows.at(-1)
  return last === undefined || rows.length < limits.erasureStepRows ? undefined : `${last.at} ${last.id}`
}

function redact({ accountId }: Erasure, row: LoggedRow): Statement {
  return sql`update request set path = ${value(row.path)}::text, query = ${value(row.query)}::text, filter = ${value(row.filter)}::text,
  error_detail = ${value(row.error_detail)}::text
where account_id = ${value(accountId)}::bigint and at = ${value(row.at)}::timestamptz and id = ${value(row.id)}::text`.statement(
    'activity',
  )
}

async function count(transaction: Transaction, erasure: Erasure, kind: string, rows: number): Promise<void> {
  if (rows > 0) await countErased(transaction, erasure, kind, rows)
}

/** Another process may have been faster, or the erasure was repeated. */
async function finish(transaction: Transaction, erasure: Erasure): Promise<void> {
  const finished = await transaction.run<{ counts: Record<string, number> }>(
    sql`update erasure set terms = null, finished_at = now()
where ${isErasure(erasure)} and terms is not null and requested_at = ${value(erasure.requestedAt)}::timestamptz returning counts`.statement(
      'activity',
    ),
  )
  const [row] = finished
  if (row === undefined) return
  const found = Object.entries(row.counts).map(([kind, rows]) => `${rows} ${kind}`)
  await transaction.run(
    auditStatement(erasure, erasure.requestedBy, {
      action: 'record.erased',
      subject: `${erasure.resource} ${erasure.id}`,
      details: found.length === 0 ? null : `also removed from: ${found.toSorted().join(', ')}`,
    }),
  )
}
