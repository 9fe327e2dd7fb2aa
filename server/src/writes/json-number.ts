/** A JSON number as its source text, because a double would round it. */
export class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }

  /** For messages that print an object or array which contains the number. */
  toJSON(): number {
    return Number(this.source)
  }
}

/** As `JSON.parse`, but numbers are `JsonNumber`. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, reviveNumbers)
}

/** `context.source` is the source text of a value. TypeScript's type of `JSON.parse` does not have this argument yet. */
function reviveNumbers(_key: string, value: unknown, context?: { readonly source: string }): unknown {
  return typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value
}
