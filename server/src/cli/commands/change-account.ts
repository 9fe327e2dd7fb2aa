import { accountNamed } from '../../accounts/directory.ts'
import type { Config } from '../../config/config.ts'
import { Failure } from '../../errors/errors.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import type { AccountScope } from '../../scope.ts'
import { asOwner } from '../database/owner.ts'

/** Runs a change of what an account has, its keys, webhooks or fields, in a transaction. If an id is unknown, the error says how to find it. */
export async function changeAccount<T>(
  config: Config,
  account: string,
  what: 'key' | 'webhook' | 'field',
  work: (transaction: Transaction, scope: AccountScope) => Promise<T>,
): Promise<T> {
  try {
    return await asOwner(config, async (client) => {
      const scope = await accountNamed(client, account)
      return await inTransaction(client, (transaction) => work(transaction, scope))
    })
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'record_unknown')) throw error
    const hint = `\`quartermaster ${what} list --account ${account}\` lists its ${what}s.`
    throw new Failure(error.code, `${error.message} ${hint}`, [], error)
  }
}
