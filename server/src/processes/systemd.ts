import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { limits } from '../limits/limits.ts'
import type { EmitEvent } from '../observability/events.ts'

const run = promisify(execFile)

/**
 * Reports the state of the service to systemd (`Type=notify`). Node has no datagram Unix sockets, so the program
 * `systemd-notify` sends the messages. Does nothing without NOTIFY_SOCKET.
 */
export class Systemd {
  readonly #isEnabled: boolean
  readonly #emit: EmitEvent
  #sent: Promise<void> = Promise.resolve()

  constructor(socket: string | undefined, emit: EmitEvent) {
    this.#isEnabled = socket !== undefined
    this.#emit = emit
  }

  ready(): Promise<void> {
    return this.#send('READY=1')
  }

  /** `Type=notify-reload` also requires the time. */
  reloading(): Promise<void> {
    return this.#send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`)
  }

  stopping(): Promise<void> {
    return this.#send('STOPPING=1')
  }

  /** One after another, so that they arrive in order. */
  #send(...assignments: string[]): Promise<void> {
    if (this.#isEnabled) this.#sent = this.#runAfter(this.#sent, assignments)
    return this.#sent
  }

  async #runAfter(previous: Promise<void>, assignments: string[]): Promise<void> {
    await previous
    try {
      await run('systemd-notify', assignments, { timeout: limits.systemdNotifyMsMax })
    } catch (error) {
      this.#emit({ kind: 'notify-failed', cause: error instanceof Error ? error.message : String(error) })
    }
  }
}
