import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from './random.ts'
import type { ServerProcess } from './service.ts'

/** Kills a random server at random moments and restarts it before the next kill, so that one is always available. */
export class ServerKills {
  readonly #ended: Promise<void>
  #isRunning = true
  kills = 0

  constructor(servers: readonly ServerProcess[], seed: number) {
    this.#ended = this.#run(servers, new Random(seed, 8))
  }

  async end(): Promise<void> {
    this.#isRunning = false
    await this.#ended
  }

  async #run(servers: readonly ServerProcess[], random: Random): Promise<void> {
    while (this.#isRunning) {
      await sleep(random.integer(50, 400))
      if (!this.#isRunning) return
      const server = random.pick(servers)
      await server.kill()
      this.kills += 1
      await server.start()
    }
  }
}
