import { withClient } from '../../../server/src/postgres/client.ts'
import type { Stoppable } from '../check.ts'
import { type PostgresNode, waitUntil } from './postgres-node.ts'
import { PostgresNodes } from './postgres-nodes.ts'

/** A primary and a streaming standby. The two ports stay the same; which of them is the primary changes. */
export class PrimaryAndStandby implements Stoppable {
  readonly nodes: PostgresNodes
  #primary: PostgresNode
  #standby: PostgresNode
  #made = 0

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
   * Whether a commit waits until the standby has it. Returns when it is so, and when the standby has all that was
   * committed before: from then on nothing that was acknowledged is lost with the primary.
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

  /** The standby becomes the primary; what becomes of the old one is the caller's to decide. Returns the old one. */
  async promote(): Promise<PostgresNode> {
    await this.#standby.promote()
    const old = this.#primary
    this.#primary = this.#standby
    this.#standby = old
    return old
  }

  /** The standby is made anew from the primary, at its old port: an old primary may have writes that the new one has not. */
  async rebuildStandby(): Promise<void> {
    const old = this.#standby
    await old.kill()
    await this.nodes.remove(old)
    this.#made += 1
    const options = { standby: true, port: old.port }
    this.#standby = await this.nodes.baseBackup(this.#primary, `rebuilt-${this.#made}`, options)
    await this.#standby.start()
    await this.#standby.caughtUpWith(this.#primary)
  }

  async stop(): Promise<void> {
    await this.nodes.stop()
  }
}
