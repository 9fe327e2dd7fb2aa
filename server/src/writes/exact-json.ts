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

/** What a scan of a JSON object found, before it was parsed. */
export interface ObjectScan {
  /** The names of its members, up to one more than the maximum. */
  readonly names: readonly string[]
  /** The first value that is an array or an object. The scan ends there. */
  readonly nested: { readonly name: string; readonly offset: number } | undefined
  /** The object has more members than the maximum. The scan ends there. */
  readonly isTooLong: boolean
}

/**
 * Scans the text of a record in linear time, before it is parsed. No field of a record is an array or an object, and a record has
 * few fields; but the reviver of `parseExactJson` takes 4.5 µs for each number, seconds for a line of 1 MB. Undefined if the text
 * is not an object. A text that is not JSON at all may be scanned; its parser reports it.
 */
export function scanObject(text: string, membersMax: number): ObjectScan | undefined {
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return undefined
  const names: string[] = []
  let string = ''
  let isValue = false
  for (at += 1; at < text.length; at++) {
    const char = text[at]
    if (char === '"') {
      const end = endOfString(text, at)
      if (!isValue) string = text.slice(at, end)
      at = end - 1
    } else if (char === ':' && !isValue) {
      names.push(nameOf(string))
      isValue = true
      if (names.length > membersMax) return { names, nested: undefined, isTooLong: true }
    } else if (char === ',') isValue = false
    else if (char === '}') break
    else if ((char === '[' || char === '{') && isValue) {
      return { names, nested: { name: names.at(-1) ?? '', offset: at }, isTooLong: false }
    }
  }
  return { names, nested: undefined, isTooLong: false }
}

/** Whether the object has only members that are not arrays or objects, and not more than a record can have. */
export function isFlat(text: string, membersMax: number): boolean {
  const scan = scanObject(text, membersMax)
  return scan !== undefined && scan.nested === undefined && !scan.isTooLong
}

/** The first name that occurs twice. */
export function repeatedName(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

export function isJsonObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  )
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at++
  return at
}

/** The offset after the closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return Math.min(at + 1, text.length)
}

function nameOf(string: string): string {
  try {
    return String(JSON.parse(string))
  } catch {
    return string
  }
}
