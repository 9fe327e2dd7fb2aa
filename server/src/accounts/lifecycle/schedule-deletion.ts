import type { Transaction } from '../../postgres/transaction.ts'
import { sql, value } from '../../sql.ts'
import { changeStatus, lockAccount } from '../account-changes.ts'
import type { Actor } from '../audit.ts'
import { type Deletion, deletionColumns, deletionStatement } from './deletion.ts'

/**
 * Suspends the account and schedules its deletion. Repeated, the shorter grace period counts. An account that is deleted or being
 * deleted stays as it is, so that a request can be repeated.
 */
export async function scheduleDeletion(
  transaction: Transaction,
  actor: Actor,
  name: string,
  graceSeconds: number,
): Promise<Deletion> {
  const [earlier] = await transaction.run<Deletion>(deletionStatement(name))
  if (earlier !== undefined && earlier.state !== 'scheduled') return earlier
  const account = await lockAccount(transaction, name)
  await changeStatus(transaction, actor, account, 'suspended')
  const by = [actor.id, actor.address].filter((part) => part !== null).join(' at ')
  const [scheduled] = await transaction.run<Deletion>(
    sql`insert into account_deletion as d (name, former_id, requested_by, due_at)
values (${value(name)}::text, ${value(account.accountId)}::bigint, ${value(by)}::text,
  now() + make_interval(secs => ${value(graceSeconds)}::int))
on conflict (name) do update set due_at = least(d.due_at, excluded.due_at) returning ${deletionColumns}`.statement(
      'account',
    ),
  )
  if (scheduled === undefined) throw new Error('the insert returned no row')
  return scheduled
}
