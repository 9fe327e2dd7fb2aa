import type pg from 'pg'
import { beginText } from './connections.ts'
import { failOnWarning, type Transaction } from './database.ts'
import { layoutOf } from './layout.ts'

/** Runs `work` in a transaction: commits it, or rolls it back if `work` throws. */
export async function inTransaction<T>(
  client: pg.ClientBase,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  await client.query(beginText(client))
  try {
    const result = await work({
      form: layoutOf(client).form,
      run: async ({ text, values }) => (await client.query(text, [...values])).rows,
    })
    await failOnWarning(client, () => client.query('commit'))
    return result
  } catch (error) {
    // If the connection broke, the rollback fails, too. The first error is the one to report.
    await client.query('rollback').catch(() => {})
    throw error
  }
}
