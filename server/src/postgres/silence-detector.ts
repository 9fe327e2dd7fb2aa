/**
 * Detects that a server does not respond. Counts checks, not time: after a pause of this process, responses may be in its sockets
 * that it has not read yet.
 */
export class SilenceDetector {
  readonly #checksMax: number
  /** Checks since the last response. */
  #unanswered = 0

  constructor(checksMax: number) {
    this.#checksMax = checksMax
  }

  responded(): void {
    this.#unanswered = 0
  }

  /** Called at an interval. Whether the server has been silent for the allowed number of checks. */
  check(): boolean {
    return this.#unanswered++ >= this.#checksMax
  }
}
