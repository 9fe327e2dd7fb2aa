import type pg from 'pg'
import type { Transaction } from './database.ts'

/** All of the work, or nothing of it. */
export async function inTransaction<T>(
  client: pg.ClientBase,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  await client.query('begin')
  try {
    const result = await work({
      run: async ({ text, values }) => (await client.query(text, [...values])).rows,
    })
    await client.query('commit')
    return result
  } catch (error) {
    // A connection that broke has nothing left to roll back; the first error is the one worth telling.
    await client.query('rollback').catch(() => {})
    throw error
  }
}
