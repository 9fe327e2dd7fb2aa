import type { OriginQuestion } from '../accounts/allowed-origins.ts'
import { type OriginsRow, originsIn, originsStatement } from '../accounts/cors-origins.ts'
import { type AccountRow, accountIds } from '../accounts/key-verifier.ts'
import type { Database } from '../postgres/database.ts'

/** No account has this id. */
const NO_ACCOUNT_ID = '0'

/**
 * `findAllowed` for each account by a statement of its own, so that a worker that is away affects its own accounts only. Of an
 * account that does not exist, none are read, in the same way.
 */
export async function findAllowedByAccount(
  database: Database,
  questions: readonly OriginQuestion[],
): Promise<readonly (boolean | undefined)[]> {
  const names = [...new Set(questions.map(({ accountName }) => accountName))]
  const rows = await database.read<AccountRow>(accountIds([names]))
  const allowed = new Map(
    await Promise.all(
      rows.map(
        async ({ name, account_id: accountId }) =>
          [name, await originsOf(database, accountId ?? NO_ACCOUNT_ID)] as const,
      ),
    ),
  )
  return questions.map(({ accountName, origin }) => allowed.get(accountName)?.includes(origin))
}

/** Undefined if they cannot be read. */
async function originsOf(database: Database, accountId: string): Promise<readonly string[] | undefined> {
  try {
    const scope = { accountId }
    return originsIn(await database.nodeOf(scope).read<OriginsRow>(originsStatement(scope)))
  } catch {
    return undefined
  }
}
