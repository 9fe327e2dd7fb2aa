import { waitUntil } from '../../wait-until.ts'
import type { ReleaseProcess } from './release.ts'

/** Distributes requests over the processes in rotation, as a load balancer does that removes a process before it is stopped. */
export class Balancer {
  readonly #rotation: ReleaseProcess[] = []
  readonly #inFlight = new Map<ReleaseProcess, number>()
  #next = 0

  /** Those in rotation now. */
  get processes(): readonly ReleaseProcess[] {
    return [...this.#rotation]
  }

  add(process: ReleaseProcess): void {
    this.#rotation.push(process)
  }

  async send<T>(request: (process: ReleaseProcess) => Promise<T>): Promise<T> {
    const process = this.#rotation[this.#next++ % this.#rotation.length]
    if (process === undefined) throw new Error('no process is in rotation')
    this.#count(process, 1)
    try {
      return await request(process)
    } finally {
      this.#count(process, -1)
    }
  }

  /** Resolves when the process has no request in flight and receives no more. */
  async remove(process: ReleaseProcess): Promise<void> {
    this.#rotation.splice(this.#rotation.indexOf(process), 1)
    await waitUntil(async () => (this.#inFlight.get(process) ?? 0) === 0)
  }

  #count(process: ReleaseProcess, change: number): void {
    this.#inFlight.set(process, (this.#inFlight.get(process) ?? 0) + change)
  }
}
