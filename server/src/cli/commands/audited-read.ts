import { type Actor, auditStatement } from '../../accounts/audit.ts'
import { entryIdAt } from '../../entry-id.ts'
import { limits } from '../../limits/limits.ts'
import type { Connection } from '../../postgres/connection.ts'
import type { AccountScope } from '../../scope.ts'
import { sql, value } from '../../sql.ts'
import { operator } from '../operator.ts'
import type { Output } from '../progress.ts'

/** What an operator reads: the name of the account or resource, and in which form. */
interface OperatorRead {
  readonly subject: string
  readonly details: string
}

/**
 * Tells the administrators of an account that an operator reads its records. It is committed before the first one is read, so that no
 * interruption hides it. A standby cannot store it, and the command says so. A command that runs every minute leaves an entry per hour:
 * entries are never deleted.
 */
export async function auditRead(
  client: Connection,
  scope: AccountScope,
  read: OperatorRead,
  stderr: Output,
  actor: Actor = operator(),
): Promise<void> {
  try {
    const last = await client.run(lastRead(scope, actor, read), false)
    if (last.rows.length > 0) return
    await client.run(auditStatement(scope, actor, { action: 'account.export', ...read }), false)
  } catch (error) {
    if (!isReadOnly(error)) throw error
    stderr.write('This server is read-only, so the audit log of the account does not record this command.\n')
  }
}

/** The ids of entries begin with their time. */
function lastRead({ accountId }: AccountScope, { id: actorId }: Actor, { subject, details }: OperatorRead) {
  const after = entryIdAt(Date.now() - limits.auditReadsApartMs)
  return sql`select 1 from audit where account_id = ${value(accountId)}::bigint and id > ${value(after)}::text
  and action = 'account.export' and subject = ${value(subject)}::text and details = ${value(details)}::text
  and actor = 'operator' and actor_id = ${value(actorId)}::text limit 1`.statement()
}

function isReadOnly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25006'
}
