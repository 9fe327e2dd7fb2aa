import { distribute } from '../src/citus/distribute.ts'
import { cloneDatabase } from '../src/cli/database/temporary-postgres.ts'
import { withClient } from '../src/postgres/client.ts'
import { migrate } from '../src/postgres/migrations/migrate.ts'

/** The URLs of the nodes of a Citus cluster, the coordinator first. If there are none, the tests run on one server. */
export const citusNodes: readonly string[] = (process.env['TEST_CITUS_NODES'] ?? '')
  .split(',')
  .filter((url) => url !== '')

/** What a database on Citus may have had when it was distributed. Later migrations must work on distributed tables. */
const migrationsBefore = 9

/** A new database on all nodes, distributed and migrated. */
export async function distributedDatabase(name: string): Promise<string> {
  const urls: string[] = []
  for (const node of citusNodes) urls.push(await cloneDatabase(node, name, 'template0'))
  for (const url of urls) await withClient(url, (client) => client.query('create extension citus'))
  const [coordinator = '', ...workers] = urls
  await withClient(coordinator, async (client) => {
    await client.query(`select citus_set_coordinator_host('127.0.0.1', $1)`, [portOf(coordinator)])
    for (const worker of workers)
      await client.query(`select citus_add_node('127.0.0.1', $1)`, [portOf(worker)])
    await migrate(coordinator, { count: migrationsBefore })
    await distribute(client, { roles: ['quartermaster_server', 'quartermaster_writer'], shards: 4 })
  })
  await migrate(coordinator)
  return coordinator
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
