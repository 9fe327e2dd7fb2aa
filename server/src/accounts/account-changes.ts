import pg from 'pg'
import { resources } from '../catalog/resources.ts'
import { accountUnknown, Failure } from '../errors/errors.ts'
import type { IdSource } from '../id-source.ts'
import { limits } from '../limits/limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { join, sql, value } from '../sql.ts'
import { type Actor, auditStatement } from './audit.ts'
import { setCorsOrigins } from './cors-origins.ts'
import {
  type Account,
  accountColumns,
  checkAccountName,
  type LimitParameters,
  limitsOf,
} from './directory.ts'
import { cancelDeletion, rejectRetiredName } from './lifecycle/deletion.ts'

/** What operators change of an account. Each change writes its audit entry in the same transaction. */

export async function createAccount(
  client: Connection,
  actor: Actor,
  name: string,
  ids: IdSource = 'unassigned',
): Promise<Account> {
  return await inTransaction(client, (transaction) => insertAccount(transaction, actor, name, ids))
}

export async function insertAccount(
  transaction: Transaction,
  actor: Actor,
  name: string,
  ids: IdSource,
): Promise<Account> {
  checkAccountName(name)
  const account = await insertRow(transaction, name)
  await rejectRetiredName(transaction, name)
  const id = value(account.accountId)
  const ownLastId = value(ids === 'external' ? limits.externalIdMax : null)
  const rows = Object.keys(resources).map(
    (resource) =>
      sql`(${id}::bigint, ${value(resource)}::text, ${ownLastId}::bigint, ${value(ids === 'service')}::boolean)`,
  )
  await transaction.run(
    sql`insert into tally (account_id, resource, own_last_id, service_ids) values ${join(rows, ', ')}`.statement(
      'account',
    ),
  )
  const details = ids === 'unassigned' ? null : `ids: ${ids}`
  await transaction.run(auditStatement(account, actor, { action: 'account.create', subject: name, details }))
  return account
}

async function insertRow(transaction: Transaction, name: string): Promise<Account> {
  try {
    const [account] = await transaction.run<Account>(
      sql`insert into account (name) values (${value(name)}::text) returning ${accountColumns}`.statement(
        'account',
      ),
    )
    if (account === undefined) throw new Error('the insert returned no row')
    return account
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '23505') throw accountExists(name, error)
    throw error
  }
}

/** Until the end of the transaction nobody else changes or deletes the account. */
export async function lockAccount(transaction: Transaction, name: string): Promise<Account> {
  const [account] = await transaction.run<Account>(
    sql`select ${accountColumns} from account where name = ${value(name)}::text for no key update`.statement(
      'account',
    ),
  )
  if (account === undefined) throw accountUnknown(name)
  return account
}

/** Takes effect with the next request, also for the rest of the current minute. */
export async function limitAccount(
  client: Connection,
  actor: Actor,
  name: string,
  parameters: LimitParameters,
): Promise<Account> {
  return await inTransaction(client, async (transaction) =>
    changeLimits(transaction, actor, await lockAccount(transaction, name), parameters),
  )
}

/** The account must be locked. */
export async function changeLimits(
  transaction: Transaction,
  actor: Actor,
  before: Account,
  parameters: LimitParameters,
): Promise<Account> {
  const next: Account = { ...before, ...parameters }
  await transaction.run(
    sql`update account set requests_per_minute = ${value(next.requestsPerMinute)}::int,
  key_requests_per_minute = ${value(next.keyRequestsPerMinute)}::int, records_max = ${value(next.recordsMax)}::bigint,
  idempotency_results_max = ${value(next.idempotencyResultsMax)}::bigint, audit_rows_max = ${value(next.auditRowsMax)}::bigint
where account_id = ${value(before.accountId)}::bigint`.statement('account'),
  )
  const change = {
    action: 'account.limit',
    subject: before.name,
    details: limitsOf(next).join('; '),
  } as const
  await transaction.run(auditStatement(before, actor, change))
  return next
}

/**
 * From the next request on, no key of a suspended account is accepted. Its data are not changed. Activating an account cancels its
 * scheduled deletion.
 */
export async function setStatus(
  client: Connection,
  actor: Actor,
  name: string,
  status: Account['status'],
): Promise<Account> {
  return await inTransaction(client, async (transaction) =>
    changeStatus(transaction, actor, await lockAccount(transaction, name), status),
  )
}

/** The account must be locked. */
export async function changeStatus(
  transaction: Transaction,
  actor: Actor,
  before: Account,
  status: Account['status'],
): Promise<Account> {
  if (before.status === status) return before
  if (status === 'active') await cancelDeletion(transaction, before.name)
  await transaction.run(
    sql`update account set status = ${value(status)}::text where account_id = ${value(before.accountId)}::bigint`.statement(
      'account',
    ),
  )
  const action = status === 'suspended' ? 'account.suspend' : 'account.activate'
  await transaction.run(auditStatement(before, actor, { action, subject: before.name, details: null }))
  return { ...before, status }
}

/** Applies within `corsCachedMs`. */
export async function allowOrigins(
  client: Connection,
  actor: Actor,
  name: string,
  origins: readonly string[],
): Promise<void> {
  await inTransaction(client, async (transaction) => {
    await setCorsOrigins(transaction, await lockAccount(transaction, name), actor, origins)
  })
}

function accountExists(name: string, cause: unknown): Failure {
  return new Failure('account_exists', `There is already an account named ${name}.`, [], cause)
}
