import type { Layout } from '../postgres/layout.ts'
import type { AccountScope } from '../scope.ts'
import { distributeAdded } from './distribute.ts'
import { forms } from './forms.ts'
import { inspectCluster } from './inspect.ts'
import { WorkerNodes } from './worker-nodes.ts'

/** The tables are distributed by `account_id` over the workers of a Citus cluster. */
export const citus: Layout = {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `forms` has only replacements of the same type
  form: (plain) => (forms.get(plain) as typeof plain | undefined) ?? plain,
  /**
   * A statement on several tables has no generic plan: the shard is chosen by the value of the account. One connection to each
   * worker is enough, because the statements of a request have one task.
   */
  settings: { plan_cache_mode: 'auto', 'citus.max_adaptive_executor_pool_size': '1' },
  // The verification reads no writer, so that no row of a replica could be accepted.
  hasReplicas: false,
  // The epoch of a row is that of the worker with the account, and the node of the connection knows which server that is.
  isCurrent: () => true,
  isTemporary: ({ message }) => isOfShard.test(message),
  // If it did not end the session, it is about a worker. Other statements on the connection may be for other workers.
  isOfOtherServer: ({ severity }) => severity === 'ERROR',
  checkAccounts,
  nodes: (entry) => new WorkerNodes(entry),
  afterMigrations: async (client) => (await distributeAdded(client)).map((name) => `distributed ${name}`),
  inspect: inspectCluster,
}

/**
 * Messages without an SQLSTATE of their own: a worker could not be reached, or the shard was moved, split or dropped meanwhile.
 * Other internal errors are defects.
 */
const isOfShard =
  /\bshard\b|\bplacement\b|\bnode group\b|\bremote node\b|\bnode \d+ could not be found|\bconnection\b|\bpostmaster\b|relation with OID/

/** If the check of all fails, those of each account: a worker that is away affects its own accounts only, of which nothing is known. */
async function checkAccounts<Item extends AccountScope, Result>(
  items: readonly Item[],
  check: (items: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  try {
    return await check(items)
  } catch {
    const results: Result[] = []
    for (const some of Map.groupBy(items, ({ accountId }) => accountId).values())
      results.push(...(await check(some).catch(() => [])))
    return results
  }
}
