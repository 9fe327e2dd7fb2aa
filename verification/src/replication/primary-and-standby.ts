import { withClient } from '../../../server/src/postgres/client.ts'
import type { Stoppable } from '../check.ts'
import { waitUntil } from '../wait-until.ts'
import type { PostgresNode } from './postgres-node.ts'
import { PostgresNodes } from './postgres-nodes.ts'

/** A primary and a streaming standby. The two ports stay the same; which of them is the primary changes. */
export class PrimaryAndStandby implements Stoppable {
  readonly nodes: PostgresNodes
  #primary: PostgresNode
  #standby: PostgresNode
  #rebuilds = 0

  private constructor(nodes: PostgresNodes, primary: PostgresNode, standby: PostgresNode) {
    this.nodes = nodes
    this.#primary = primary
    this.#standby = standby
  }

  static async start(): Promise<PrimaryAndStandby> {
    const nodes = new PostgresNodes()
    try {
      const primary = await nodes.initialise('first')
      const standby = await nodes.copyAsStandby(primary, 'second')
      await primary.start()
      await standby.start()
      return new PrimaryAndStandby(nodes, primary, standby)
    } catch (error) {
      await nodes.stop()
      throw error
    }
  }

  get primary(): PostgresNode {
    return this.#primary
  }

  get standby(): PostgresNode {
    return this.#standby
  }

  /**
   * Sets whether a commit waits for the standby. Resolves when the setting is active and the standby has replayed all earlier
   * commits: from then on, no acknowledged commit is lost with the primary.
   */
  async setSynchronous(on: boolean): Promise<void> {
    await withClient(this.#primary.url('postgres'), async (client) => {
      await client.query(`alter system set synchronous_standby_names = '${on ? '*' : ''}'`)
      await client.query('select pg_reload_conf()')
      await waitUntil(async () => {
        const { rows } = await client.query<{ sync_state: string }>(
          'select sync_state from pg_stat_replication',
        )
        return rows.length === 1 && (rows[0]?.sync_state === 'sync') === on
      })
    })
    await this.#standby.caughtUpWith(this.#primary)
  }

  /** Promotes the standby and returns the old primary, which the caller must stop. */
  async promote(): Promise<PostgresNode> {
    await this.#standby.promote()
    const old = this.#primary
    this.#primary = this.#standby
    this.#standby = old
    return old
  }

  /** Replaces the standby by a new base backup on the same port: an old primary may have writes that the new one lacks. */
  async rebuildStandby(): Promise<void> {
    const old = this.#standby
    await old.kill()
    await this.nodes.remove(old)
    this.#rebuilds += 1
    const options = { standby: true, port: old.port }
    this.#standby = await this.nodes.baseBackup(this.#primary, `rebuilt-${this.#rebuilds}`, options)
    await this.#standby.start()
    await this.#standby.caughtUpWith(this.#primary)
  }

  async stop(): Promise<void> {
    await this.nodes.stop()
  }
}
