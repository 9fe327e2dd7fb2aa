import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Random } from '../random.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import { startReplica } from './replica-cluster.ts'

/**
 * `lagging`: it replays nothing, and answers. `paused`: its processes are stopped, and the kernel accepts connections. `killed`: it
 * is started again after a pause.
 */
const kinds = ['lagging', 'paused', 'killed'] as const

/** Causes one fault of the replica after the other, with pauses, until `end` is called. */
export class ReplicaFaults {
  readonly #replica: PostgresNode
  readonly #random: Random
  #isEnding = false
  #count = 0
  readonly #running: Promise<void>

  constructor(replica: PostgresNode, random: Random) {
    this.#replica = replica
    this.#random = random
    this.#running = this.#run()
    this.#running.catch(() => {})
  }

  get count(): number {
    return this.#count
  }

  get hasCausedAll(): boolean {
    return this.#count >= kinds.length
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      await sleep(this.#random.integer(1_500, 4_000))
      if (this.#isEnding) return
      await this.#cause(kinds[this.#count % kinds.length] ?? 'lagging')
      this.#count += 1
    }
  }

  async #cause(kind: (typeof kinds)[number]): Promise<void> {
    const ms = this.#random.integer(500, 2_500)
    switch (kind) {
      case 'lagging':
        await this.#query('select pg_wal_replay_pause()')
        await sleep(ms)
        await this.#query('select pg_wal_replay_resume()')
        return
      case 'paused':
        this.#replica.pause()
        await sleep(ms)
        this.#replica.resume()
        return
      case 'killed':
        await this.#replica.kill()
        await sleep(ms)
        await startReplica(this.#replica)
        return
      default:
        kind satisfies never
    }
  }

  #query(text: string): Promise<unknown> {
    return withClient(this.#replica.url('postgres'), (client) => client.query(text))
  }
}
