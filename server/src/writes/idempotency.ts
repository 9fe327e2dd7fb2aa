import type { ResourceName } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { constant, prepared, type Statement, sql, value } from '../sql.ts'
import { IdempotencyQuota } from './idempotency-quota.ts'

/** Makes a write safe to retry. */
export interface Idempotency {
  readonly key: string
  /** SHA-256 of the request: another request with the same key is rejected. */
  readonly requestHash: Buffer
  /** Of the record that is written. */
  readonly resource: ResourceName
}

/** From which the response to a write is built, also for a retry. */
export interface WriteResult {
  readonly id: string
  readonly status: 200 | 201 | 204
  /** Null for a delete, and for a create by a process of the previous version. */
  readonly etag: string | null
  /** The record as JSON; null if the response does not contain it. */
  readonly record: string | null
}

export interface Written extends WriteResult {
  readonly replayed: boolean
}

interface ClaimRow {
  readonly free: boolean
  readonly record_id: string | null
  readonly same: boolean | null
  readonly status: WriteResult['status'] | null
  readonly etag: string | null
  readonly body: string | null
  /** Whether the record was erased after the write. */
  readonly erased: boolean
}

/** Runs a write in a transaction. With a key, the write runs once, and its result is stored in the same transaction. */
export class IdempotentWrites {
  readonly #database: Database
  readonly #quota = new IdempotencyQuota()

  constructor(database: Database) {
    this.#database = database
  }

  async run(
    scope: AccountScope,
    idempotency: Idempotency | undefined,
    work: (transaction: Transaction) => Promise<WriteResult>,
  ): Promise<Written> {
    if (idempotency === undefined) return { ...(await this.#database.writeTo(scope, work)), replayed: false }
    const quota = this.#quota
    const attempt = async () => {
      const written = await this.#database.writeTo(scope, (transaction) =>
        claimed(transaction, scope, { idempotency, quota }, work),
      )
      if (!written.replayed) quota.added(scope)
      return written
    }
    try {
      return await attempt()
    } catch (error) {
      // Another request with this key committed between the claim and the write: now its result can be returned.
      if (!(error instanceof Raced)) throw error
      return await attempt()
    }
  }
}

async function claimed(
  transaction: Transaction,
  scope: AccountScope,
  { idempotency, quota }: { readonly idempotency: Idempotency; readonly quota: IdempotencyQuota },
  work: (transaction: Transaction) => Promise<WriteResult>,
): Promise<Written> {
  const [claim] = await transaction.run<ClaimRow>(claimStatement(scope, idempotency))
  if (claim?.record_id != null) {
    if (claim.erased) {
      throw new Failure(
        'idempotency_mismatch',
        'This Idempotency-Key was used for a record that was erased. Nothing was written.',
      )
    }
    if (claim.same === true) {
      await transaction.run(confirmStatement(scope, idempotency))
      const { record_id: id, status, etag, body: record } = claim
      return { id, status: status ?? 201, etag, record, replayed: true }
    }
    throw new Failure(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request. Use a new key for a new request.',
    )
  }
  if (claim?.free !== true) {
    throw new Failure(
      'idempotency_conflict',
      'A request with this Idempotency-Key is still running. Try again shortly.',
    )
  }
  await quota.require(transaction, scope)
  const result = await work(transaction)
  const stored = await transaction.run(prepared(storeStatement(scope, idempotency, result)))
  if (stored.length === 0) throw new Raced()
  await transaction.run(sweepStatement(scope))
  return { ...result, replayed: false }
}

class Raced extends Failure {
  constructor() {
    super('idempotency_conflict', 'Another request with this Idempotency-Key was faster.')
  }
}

/** Tries to lock the key until the end of the transaction, and reads the result that is stored for it. */
function claimStatement(scope: AccountScope, { key, requestHash, resource }: Idempotency): Statement {
  const accountId = value(scope.accountId)
  const keyValue = value(key)
  return sql`select pg_try_advisory_xact_lock(hashtextextended(${keyValue}::text, ${accountId}::bigint)) as free,
  k.record_id, k.request_hash = ${value(requestHash)}::bytea as same, k.status, k.etag, k.body,
  exists (select from erasure e where e.account_id = ${accountId}::bigint and e.resource = coalesce(k.resource, ${value(resource)}::text)
    and e.id = k.record_id and e.requested_at >= k.created_at) as erased
from (select 1) one
left join idempotency k on k.account_id = ${accountId}::bigint and k.key = ${keyValue}::text
  and k.created_at > now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)`.statement(
    'idempotency',
  )
}

/**
 * Makes the commit of a replay wait for the synchronous standby. The commit of the write may not have waited: it is
 * visible as soon as its own wait is cancelled. A transaction that writes no WAL does not wait, even if it has an xid; a
 * row lock writes WAL.
 */
function confirmStatement(scope: AccountScope, { key }: Idempotency): Statement {
  return sql`select 1 as confirmed from idempotency
where account_id = ${value(scope.accountId)}::bigint and key = ${value(key)}::text for key share`.statement(
    'idempotency',
  )
}

/**
 * Returns no row if an unexpired one exists: the unique key, not the lock, guarantees that a write runs once. `excluded.created_at`
 * is the current time, and the times are compared without a time zone, by immutable functions only: some databases accept no others here.
 */
function storeStatement(
  scope: AccountScope,
  { key, requestHash, resource }: Idempotency,
  { id, status, etag, record }: WriteResult,
): Statement {
  return sql`insert into idempotency as k (account_id, key, request_hash, record_id, status, etag, body, resource)
values (${value(scope.accountId)}::bigint, ${value(key)}::text, ${value(requestHash)}::bytea, ${value(id)}::bigint,
  ${value(status)}::smallint, ${value(etag)}::text, ${value(record)}::text, ${value(resource)}::text)
on conflict (account_id, key) do update
  set request_hash = excluded.request_hash, record_id = excluded.record_id, created_at = excluded.created_at,
    status = excluded.status, etag = excluded.etag, body = excluded.body, resource = excluded.resource
  where k.created_at at time zone 'UTC' <= excluded.created_at at time zone 'UTC' - make_interval(hours => ${constant(limits.idempotencyHours)})
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
