import { Failure } from '../errors.ts'

/** Whether all who waited for a read have gone, and what is to be done when they have. */
export class HangUp {
  #isUp = false
  #then: (() => void) | undefined

  get isUp(): boolean {
    return this.#isUp
  }

  up(): void {
    this.#isUp = true
    this.#then?.()
    this.#then = undefined
  }

  /** Of two, the later holds: a read is at one thing at a time. */
  onUp(then: (() => void) | undefined): void {
    this.#then = then
  }
}

/** Nobody gets it. */
export function hungUp(cause?: unknown): Failure {
  return new Failure('hung_up', 'Nobody waits for this answer any more.', [], cause)
}
