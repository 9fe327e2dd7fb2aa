import type pg from 'pg'

/** Returns what the work has found, and leaves the database as it was. */
export async function inRolledBack<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    return await work()
  } finally {
    await client.query('rollback')
  }
}
