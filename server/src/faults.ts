import { Failure, type Fault } from './errors.ts'
import { limits } from './limits.ts'

/**
 * What is wrong with one request, gathered up to a bound: a request can be wrong in 130,000 places, and neither the time
 * to describe them nor the answer may grow with that. Faults beyond the bound are counted.
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

  /** `describe` is called only while there is room for one more. */
  add(describe: () => Fault): void {
    this.#count++
    if (this.#listed.length >= limits.errorsListedMax) return
    const { suggestion, ...fault } = describe()
    const bytes = jsonBytes(fault)
    if (bytes > this.#bytesLeft) return
    this.#bytesLeft -= bytes
    this.#listed.push(
      suggestion !== undefined && this.#hasRoomFor(suggestion) ? { ...fault, suggestion } : fault,
    )
  }

  /** Throws a request away that is wrong anywhere; the detail is the first fault's own sentence. */
  throwIfAny(code: 'request_invalid' | 'body_invalid' = 'request_invalid'): void {
    if (this.#count > 0) throw new Failure(code, this.#detail(), this.#listed)
  }

  #hasRoomFor(suggestion: string): boolean {
    // By its length first: a suggestion put together of a long filter is not even made whole.
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

/** What a caller sent, as an error repeats it: so much of it that they know it again, and no character halved. */
export function excerpt(text: string): string {
  const most = limits.errorEchoCharactersMax
  if (text.length <= most) return text
  // Without a regular expression: it may be a key, and JavaScript remembers what the last one was matched against.
  const unit = text.charCodeAt(most - 1)
  const halves = unit >= 0xd800 && unit <= 0xdbff
  return `${text.slice(0, halves ? most - 1 : most)}…`
}
