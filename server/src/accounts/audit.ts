import { newEntryId } from '../entry-id.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'
import { withoutKeys } from './key-format.ts'

/** Who makes a change, and from where. */
export interface Actor {
  readonly kind: 'key' | 'operator'
  /** The id of the key, or the operator's user on their machine. */
  readonly id: string
  /** The User-Agent of a request, or the operator's program. */
  readonly application: string | null
  /** The address that a request came from, or the operator's machine. */
  readonly address: string | null
}

export interface Change {
  readonly action:
    | 'account.create'
    | 'account.suspend'
    | 'account.activate'
    | 'account.limit'
    | 'key.create'
    | 'key.rotate'
    | 'key.revoke'
  /** The id of the key, or the name of the account. */
  readonly subject: string
  /** What the change was, for a person. */
  readonly details: string | null
}

/** Runs in the transaction of the change: there is none without its record, and no record without its change. */
export function auditStatement(scope: AccountScope, actor: Actor, change: Change): Statement {
  const { accountId } = scope
  return sql`insert into audit (account_id, id, action, subject, details, actor, actor_id, application, address)
values (${value(accountId)}::bigint, ${value(newEntryId(Date.now()))}::text, ${value(change.action)}::text,
  ${value(change.subject)}::text, ${value(stored(change.details))}::text, ${value(actor.kind)}::text,
  ${value(actor.id)}::text, ${value(stored(actor.application))}::text, ${value(actor.address)}::text)`.statement()
}

/** Without keys: a client may have been told to send one as its User-Agent. */
function stored(text: string | null): string | null {
  return text === null ? null : withoutKeys(text).slice(0, limits.auditTextCharactersMax).toWellFormed()
}
