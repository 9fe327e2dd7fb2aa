import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { type Candidate, candidatesOf, sweepStatement } from './delivery-statements.ts'

/** The endpoints of these accounts that are due. */
export async function candidatesIn(database: Database, accountIds: readonly string[]): Promise<Candidate[]> {
  const { checkAccounts } = await database.connect()
  const scopes = accountIds.map((accountId) => ({ accountId }))
  return await checkAccounts(scopes, (some) =>
    database.read<Candidate>(candidatesOf(some.map(({ accountId }) => accountId))),
  )
}

/** The endpoints of all accounts that are due, in pages. Between two of them it waits for `pause`. */
export async function* candidatePages(
  database: Database,
  pause: () => Promise<void>,
): AsyncGenerator<Candidate[]> {
  let after: Pick<Candidate, 'account_id' | 'id'> = { account_id: '0', id: '' }
  for (;;) {
    const page = await database.read<Candidate>(sweepStatement(after))
    yield page
    const last = page.at(-1)
    if (page.length < limits.webhookSweepRows || last === undefined) return
    after = last
    await pause()
  }
}
