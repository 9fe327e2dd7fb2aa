import type { AccountScope } from '../../scope.ts'
import type { Database } from '../database.ts'

/**
 * Runs a check of several accounts. On Citus, if that fails, the check of each account on its own: a worker that is away affects
 * its own accounts only, of which nothing is known.
 */
export async function eachIfOneFails<Item extends AccountScope, Result>(
  database: Database,
  items: readonly Item[],
  check: (items: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  try {
    return await check(items)
  } catch (error) {
    if ((await database.topology()) === 'single') throw error
  }
  const results: Result[] = []
  for (const some of Map.groupBy(items, ({ accountId }) => accountId).values())
    results.push(...(await check(some).catch(() => [])))
  return results
}
