import { limits } from '../limits/limits.ts'
import { Failure, type Fault } from './errors.ts'

/**
 * The faults of one request, listed up to a limit. A request can have 130,000 faults; neither the time to describe them nor
 * the size of the response may grow with their number. Faults beyond the limit are only counted.
 */
export class Faults {
  readonly #listed: Fault[] = []
  #count = 0
  #bytesLeft: number = limits.errorsBytesMax
  #suggestionBytesLeft: number = limits.errorSuggestionsBytesMax

  get count(): number {
    return this.#count
  }

  get listed(): readonly Fault[] {
    return this.#listed
  }

  /** `describe` is called only if the limit is not reached. */
  add(describe: () => Fault): void {
    this.#count++
    if (this.#listed.length >= limits.errorsListedMax) return
    const { suggestion, ...fault } = describe()
    const bytes = jsonBytes(fault)
    if (bytes > this.#bytesLeft) return
    this.#bytesLeft -= bytes
    this.#listed.push(suggestion !== undefined && this.#fits(suggestion) ? { ...fault, suggestion } : fault)
  }

  /** The detail of the error is the message of the first fault. */
  throwIfAny(code: 'request_invalid' | 'body_invalid' = 'request_invalid'): void {
    if (this.#count > 0) throw new Failure(code, this.#detail(), this.#listed)
  }

  #fits(suggestion: string): boolean {
    // Serializing a suggestion for a long filter would cost more than it is worth.
    if (suggestion.length > limits.errorSuggestionsBytesMax) return false
    const bytes = jsonBytes(suggestion)
    if (bytes > this.#suggestionBytesLeft) return false
    this.#suggestionBytesLeft -= bytes
    return true
  }

  #detail(): string {
    const first = this.#listed[0]?.message ?? ''
    const more = this.#count - 1
    if (more === 0) return first
    const listed = this.#listed.length
    return `${first} (and ${more} more, ${listed === this.#count ? 'see errors' : `errors has the first ${listed}`})`
  }
}

function jsonBytes(value: object | string): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** Input as an error message repeats it: truncated, but never within a surrogate pair. */
export function excerpt(text: string): string {
  const max = limits.errorEchoCharactersMax
  if (text.length <= max) return text
  // No regular expression: the text may contain an API key, and `RegExp.lastMatch` and its siblings retain the last subject.
  const lastUnit = text.charCodeAt(max - 1)
  const isHighSurrogate = lastUnit >= 0xd800 && lastUnit <= 0xdbff
  return `${text.slice(0, isHighSurrogate ? max - 1 : max)}…`
}
