import type { Input } from './inputs.ts'
import type { RawResponse } from './raw-request.ts'

const errorBytesMax = 64 * 1024
const unreached =
  /"code":"(path_unknown|method_not_allowed|content_type_invalid|media_type_unsupported|unauthenticated)"/

/** Judges the responses to hostile inputs by what does not depend on time. */
export class WrongResponses {
  readonly found: string[] = []
  /** Routes and types of body, and whether one of their inputs was parsed. */
  readonly #reached = new Map<string, boolean>()
  #largest = { bytes: 0, of: 'nothing' }

  add({ name, reaches }: Input, { status, bytes, lineBytes, start }: RawResponse): void {
    // The response of a batch has a line for each rejected row: each line is an error of its own.
    const errorBytes = status >= 400 ? bytes : reaches?.includes('/batch ') === true ? lineBytes : 0
    if (errorBytes > this.#largest.bytes) this.#largest = { bytes: errorBytes, of: name }
    if (errorBytes > errorBytesMax) this.found.push(`${errorBytes} bytes of error: ${name}`)
    // A 504 is allowed: a busy machine may be too slow for a filter.
    if (status === 0 || status === 500) this.found.push(`${name}: ${start.slice(0, 300) || 'no response'}`)
    if (reaches !== undefined) {
      const isReached = this.#reached.get(reaches) === true || !unreached.test(start)
      this.#reached.set(reaches, isReached)
    }
  }

  /** Everything that is wrong. Inputs that are all rejected before their body is read would show nothing. */
  get all(): readonly string[] {
    const never = [...this.#reached].filter(([, isReached]) => !isReached)
    return [...this.found, ...never.map(([reaches]) => `no body is parsed: ${reaches}`)]
  }

  /** An input that is not answered takes half a minute, and more of them show nothing new. */
  get isEnough(): boolean {
    return this.found.length >= 20
  }

  get largest(): { readonly bytes: number; readonly of: string } {
    return this.#largest
  }
}
