import { resources } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { placeholder, type Statement, sql, value } from '../sql.ts'
import { tickTally } from './tick.ts'

/** Makes a create safe to retry. */
export interface Idempotency {
  readonly key: string
  /** SHA-256 of the body: another body with the same key is rejected. */
  readonly requestHash: Buffer
}

export interface Created {
  readonly id: string
  readonly replayed: boolean
}

interface InsertedRow {
  readonly id: string
}

interface ClaimRow {
  readonly free: boolean
  readonly record_id: string | null
  readonly same: boolean | null
}

export async function createPartner(
  database: Database,
  scope: AccountScope,
  name: string,
  idempotency: Idempotency | undefined,
): Promise<Created> {
  if (idempotency === undefined) {
    return { id: idOf(await database.writeOne<InsertedRow>(insertStatement(scope, name))), replayed: false }
  }
  try {
    return await database.write((transaction) => createOnce(transaction, scope, name, idempotency))
  } catch (error) {
    // Another request with this key committed between the claim and the insert: now its result can be returned.
    if (!(error instanceof Raced)) throw error
    return await database.write((transaction) => createOnce(transaction, scope, name, idempotency))
  }
}

async function createOnce(
  transaction: Transaction,
  scope: AccountScope,
  name: string,
  idempotency: Idempotency,
): Promise<Created> {
  const [claim] = await transaction.run<ClaimRow>(claimStatement(scope, idempotency))
  if (claim?.record_id != null) {
    if (claim.same === true) {
      await transaction.run(confirmStatement(scope, idempotency))
      return { id: claim.record_id, replayed: true }
    }
    throw new Failure(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body. Use a new key for a new request.',
    )
  }
  if (claim?.free !== true) {
    throw new Failure(
      'idempotency_conflict',
      'A request with this Idempotency-Key is still running. Try again shortly.',
    )
  }
  const id = idOf(await transaction.run<InsertedRow>(insertStatement(scope, name)))
  const stored = await transaction.run(storeStatement(scope, idempotency, id))
  if (stored.length === 0) throw new Raced()
  await transaction.run(sweepStatement(scope))
  return { id, replayed: false }
}

class Raced extends Failure {
  constructor() {
    super('idempotency_conflict', 'Another request with this Idempotency-Key was faster.')
  }
}

function idOf([row]: InsertedRow[]): string {
  if (row === undefined) throw new Error('the account has no tally of partners')
  return row.id
}

const account = placeholder()
const partnerName = placeholder()

/** Increments the tally and inserts the record with the new id and version, in one statement. */
const insert = sql`with tick as (
  ${tickTally(account, resources.partner, { added: sql`1`, lastId: sql`t.last_id + 1` })}
  returning t.version, t.last_id
)
insert into partner (account_id, id, version, created_version, name, is_company, is_patient, is_customer, is_vendor, is_employee,
  active, create_date, write_date)
select ${account}::bigint, last_id, version, version, ${partnerName}::text, false, false, false, false, false, true, now(), now()
from tick
returning id`.template([account, partnerName], 'create', 'pipelined')

export function insertStatement(scope: AccountScope, name: string): Statement {
  return insert([scope.accountId, name])
}

/** Tries to lock the key until the end of the transaction, and reads the result that is stored for it. */
function claimStatement(scope: AccountScope, { key, requestHash }: Idempotency): Statement {
  const accountId = value(scope.accountId)
  const keyValue = value(key)
  return sql`select pg_try_advisory_xact_lock(hashtextextended(${keyValue}::text, ${accountId}::bigint)) as free,
  k.record_id, k.request_hash = ${value(requestHash)}::bytea as same
from (select 1) one
left join idempotency k on k.account_id = ${accountId}::bigint and k.key = ${keyValue}::text
  and k.created_at > now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)`.statement(
    'idempotency',
  )
}

/**
 * Makes the commit of a replay wait for the synchronous standby. The commit of the create may not have waited: it is
 * visible as soon as its own wait is cancelled. A transaction that writes no WAL does not wait, even if it has an xid; a
 * row lock writes WAL.
 */
function confirmStatement(scope: AccountScope, { key }: Idempotency): Statement {
  return sql`select 1 as confirmed from idempotency
where account_id = ${value(scope.accountId)}::bigint and key = ${value(key)}::text for key share`.statement(
    'idempotency',
  )
}

/** Returns no row if an unexpired one exists: the unique key, not the lock, guarantees that a create runs once. */
function storeStatement(scope: AccountScope, { key, requestHash }: Idempotency, id: string): Statement {
  return sql`insert into idempotency as k (account_id, key, request_hash, record_id)
values (${value(scope.accountId)}::bigint, ${value(key)}::text, ${value(requestHash)}::bytea, ${value(id)}::bigint)
on conflict (account_id, key) do update
  set request_hash = excluded.request_hash, record_id = excluded.record_id, created_at = excluded.created_at
  where k.created_at <= now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)
returning 1 as stored`.statement('idempotency')
}

/** Deletes expired keys of this account, up to `idempotencySweepRows`, so that the table needs no cleanup job. */
function sweepStatement(scope: AccountScope): Statement {
  const accountId = value(scope.accountId)
  return sql`delete from idempotency where account_id = ${accountId}::bigint and key in (
  select key from idempotency
  where account_id = ${accountId}::bigint
    and created_at <= now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)
  order by created_at limit ${value(limits.idempotencySweepRows)}::int
)`.statement('idempotency')
}
