import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { type Statement, sql, value } from '../sql.ts'
import { candidatePages, candidatesIn } from '../webhooks/candidates.ts'
import { type Candidate, claimStatement, logStatement } from '../webhooks/delivery-statements.ts'
import { type Claimed, claimedColumns, type DeliveryStore } from '../webhooks/delivery-store.ts'
import { ofWebhook } from '../webhooks/endpoints.ts'

/** Citus accepts only immutable functions in RETURNING, and would commit a statement that writes two tables in two phases. */
export const deliveryStoreByTable: DeliveryStore = {
  claim: (database, endpoint, options) =>
    database.write(async (transaction) => {
      const claimed = await transaction.run(claimStatement(endpoint, options, sql`id`))
      if (claimed.length === 0) return []
      const found = sql`select ${claimedColumns} from webhook where ${ofWebhook(value(endpoint.accountId), endpoint.id)}`
      return await transaction.run<Claimed>(found.statement('webhook'))
    }),
  change: (database, { endpoint, change, entry }) =>
    database.write(async (transaction) => {
      const rows = await transaction.run<{ status?: string }>(change.statement('webhook'))
      if (rows.length > 0 && entry !== undefined) await transaction.run(logStatement(endpoint, entry))
      return rows
    }),
}

/** While a worker is away, the endpoints of the accounts on the others. */
export async function* candidatePagesOfReachable(
  database: Database,
  pause: () => Promise<void>,
): AsyncGenerator<Candidate[]> {
  try {
    yield* candidatePages(database, pause)
    return
  } catch {
    // Those of each account are read below.
  }
  let after = '0'
  for (;;) {
    const page = await database.read<{ id: string }>(accountsStatement(after))
    const accountIds = page.map(({ id }) => id)
    yield await candidatesIn(database, accountIds)
    if (page.length < limits.webhookSweepRows) return
    after = accountIds.at(-1) ?? ''
    await pause()
  }
}

/** One page of all accounts. */
function accountsStatement(after: string): Statement {
  return sql`select account_id as id from account where account_id > ${value(after)}::bigint
order by account_id limit ${value(limits.webhookSweepRows)}::int`.statement('webhook')
}
