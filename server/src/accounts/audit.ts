import type { auditActions } from '../catalog/audit-actions.ts'
import { newEntryId } from '../entry-id.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'
import { withoutKeys } from './key-format.ts'

/** Who makes a change. */
export interface Actor {
  readonly kind: 'key' | 'operator'
  /** The id of the key, or the operator's user name. */
  readonly id: string
  /** The User-Agent of a request, or the operator's program. */
  readonly application: string | null
  /** The client's IP address, or the host name of the operator's machine. */
  readonly address: string | null
}

export interface Change {
  readonly action: (typeof auditActions)[number]
  /** The id of the key, webhook or field, or the name of the account or resource. */
  readonly subject: string
  /** Human-readable. */
  readonly details: string | null
}

/** Must run in the transaction of the change, so that neither is committed without the other. */
export function auditStatement(
  { accountId }: AccountScope,
  actor: Actor,
  change: Change,
  id: string = newEntryId(Date.now()),
): Statement {
  return sql`insert into audit (account_id, id, action, subject, details, actor, actor_id, application, address)
values (${value(accountId)}::bigint, ${value(id)}::text, ${value(change.action)}::text,
  ${value(change.subject)}::text, ${value(stored(change.details))}::text, ${value(actor.kind)}::text,
  ${value(actor.id)}::text, ${value(stored(actor.application))}::text, ${value(actor.address)}::text)`.statement()
}

/** Changes the details of an entry, as the owner. For a change that takes several transactions. */
export function amendAudit({ accountId }: AccountScope, id: string, details: string): Statement {
  return sql`update audit set details = ${value(stored(details))}::text
where account_id = ${value(accountId)}::bigint and id = ${value(id)}::text`.statement()
}

/**
 * Throws if the audit log of the account is full. Called by every change over HTTP that can be repeated without end; what a revocation
 * or deletion adds is limited by the number of keys and webhooks that were created. The operator is never limited.
 */
export async function requireAuditQuota(
  transaction: Transaction,
  { accountId }: AccountScope,
  { kind }: Actor,
): Promise<void> {
  if (kind === 'operator') return
  const account = value(accountId)
  const [row] = await transaction.run<{ max: number; rows: number }>(
    sql`select coalesce(a.audit_rows_max, ${value(limits.auditRowsMax)}::bigint)::float8 as max, c.rows
from account a, (select count(*)::float8 as rows from audit where account_id = ${account}::bigint) c
where a.account_id = ${account}::bigint`.statement(),
  )
  if (row !== undefined && row.rows < row.max) return
  throw new Failure(
    'audit_exhausted',
    `The audit log of the account has ${row?.rows} entries, and its quota is ${row?.max}. Nothing was changed. ` +
      'Keys can still be revoked, webhooks paused or deleted, and origins removed. Your operator can raise the quota.',
  )
}

/** Removes keys: a misconfigured client may send its key as User-Agent. */
function stored(text: string | null): string | null {
  return text === null ? null : withoutKeys(text).slice(0, limits.auditTextCharactersMax).toWellFormed()
}
