import { newEntryId } from '../entry-id.ts'
import { limits } from '../limits/limits.ts'
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
  readonly action:
    | 'account.create'
    | 'account.suspend'
    | 'account.activate'
    | 'account.limit'
    | 'account.restore'
    | 'account.ids'
    | 'account.import'
    | 'key.create'
    | 'key.rotate'
    | 'key.revoke'
    | 'webhook.create'
    | 'webhook.change'
    | 'webhook.activate'
    | 'webhook.pause'
    | 'webhook.rotate'
    | 'webhook.replay'
    | 'webhook.delete'
  /** The id of the key, or the name of the account. */
  readonly subject: string
  /** Human-readable. */
  readonly details: string | null
}

/** Must run in the transaction of the change, so that neither is committed without the other. */
export function auditStatement(scope: AccountScope, actor: Actor, change: Change): Statement {
  const { accountId } = scope
  return sql`insert into audit (account_id, id, action, subject, details, actor, actor_id, application, address)
values (${value(accountId)}::bigint, ${value(newEntryId(Date.now()))}::text, ${value(change.action)}::text,
  ${value(change.subject)}::text, ${value(stored(change.details))}::text, ${value(actor.kind)}::text,
  ${value(actor.id)}::text, ${value(stored(actor.application))}::text, ${value(actor.address)}::text)`.statement()
}

/** Removes keys: a misconfigured client may send its key as User-Agent. */
function stored(text: string | null): string | null {
  return text === null ? null : withoutKeys(text).slice(0, limits.auditTextCharactersMax).toWellFormed()
}
