import type { Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import { MovableAddress } from '../replication/movable-address.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import type { PostgresNodes } from '../replication/postgres-nodes.ts'
import { Service } from '../service.ts'

export const database = 'quartermaster'

/** A service that reaches its database through an address which can be moved to another PostgreSQL server. */
export interface MovableService extends Stoppable {
  readonly nodes: PostgresNodes
  readonly address: MovableAddress
  readonly service: Service
  readonly client: Client
  /** Of the account that was created. */
  readonly key: string
}

/** Creates a migrated database on `primary`, with one account. `stop` also stops all `nodes`. */
export async function startMovableService(
  nodes: PostgresNodes,
  primary: PostgresNode,
  account: string,
): Promise<MovableService> {
  const address = await MovableAddress.listen()
  const client = new Client(400)
  const stopAll = async () => {
    client.close()
    await address.stop()
    await nodes.stop()
  }
  try {
    await nodes.run('psql', ['-q', '-c', `create database ${database}`, primary.url('postgres')])
    address.moveTo(primary.port, 'close')
    const url = `postgres://postgres@127.0.0.1:${address.port}/${database}`
    const service = await Service.on({ url, folder: nodes.folder, stop: stopAll })
    const key = await service.account(account)
    return { nodes, address, service, client, key, stop: () => service.stop() }
  } catch (error) {
    await stopAll()
    throw error
  }
}
