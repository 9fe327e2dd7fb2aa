import { Failure } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import { type Statement, sql, value } from '../../sql.ts'

/** A deletion of an account, or the tombstone that it leaves. */
export interface Deletion {
  readonly name: string
  readonly formerId: string
  /** `scheduled`: it can be cancelled by activating the account. `deleting`: it cannot. */
  readonly state: 'scheduled' | 'deleting' | 'deleted'
  readonly requestedAt: Date
  readonly requestedBy: string
  readonly dueAt: Date
  readonly startedAt: Date | null
  readonly endedAt: Date | null
  /** Records when it began. */
  readonly records: number | null
  /** Deleted rows by table. */
  readonly counts: Readonly<Record<string, number>>
}

export const deletionColumns = sql`name, former_id as "formerId", state, requested_at as "requestedAt", requested_by as "requestedBy",
  due_at as "dueAt", started_at as "startedAt", ended_at as "endedAt", records::float8 as records, counts`

export function deletionStatement(name: string): Statement {
  return sql`select ${deletionColumns} from account_deletion where name = ${value(name)}::text`.statement(
    'account',
  )
}

/** Deletions that can begin or continue, the oldest first. */
export function dueStatement(): Statement {
  return sql`select ${deletionColumns} from account_deletion where state <> 'deleted' and due_at <= now()
order by due_at, name limit ${value(limits.deletionsListed)}::int`.statement('account')
}

/** Lately deleted accounts, of which a process that lost its database connection may write the rest of its request log. */
export function recentStatement(): Statement {
  return sql`select ${deletionColumns} from account_deletion
where state = 'deleted' and ended_at > now() - make_interval(hours => ${value(limits.deletionRecheckHours)}::int)
order by ended_at limit ${value(limits.deletionsListed)}::int`.statement('account')
}

/** Called when an account is activated, which must be locked. */
export async function cancelDeletion(transaction: Transaction, name: string): Promise<void> {
  const [found] = await transaction.run<Deletion>(deletionStatement(name))
  if (found === undefined) return
  if (found.state !== 'scheduled') {
    throw new Failure('account_deleting', `The deletion of ${name} has begun and cannot be cancelled.`)
  }
  await transaction.run(
    sql`delete from account_deletion where name = ${value(name)}::text and state = 'scheduled'`.statement(
      'account',
    ),
  )
}

/** Called after an account was inserted: a deletion of the earlier account of this name is then visible. */
export async function rejectRetiredName(transaction: Transaction, name: string): Promise<void> {
  const [earlier] = await transaction.run<Deletion>(deletionStatement(name))
  if (earlier === undefined) return
  throw new Failure(
    'account_name_retired',
    `An account named ${name} was deleted. Its name is never used again, so that no key or link of it reaches another account.`,
  )
}

/** As the command line and the operator API show it. */
export function deletionJson(deletion: Deletion) {
  return {
    name: deletion.name,
    state: deletion.state,
    requested_at: deletion.requestedAt,
    requested_by: deletion.requestedBy,
    due_at: deletion.dueAt,
    started_at: deletion.startedAt,
    ended_at: deletion.endedAt,
    records: deletion.records,
    deleted_rows: deletion.counts,
  }
}
