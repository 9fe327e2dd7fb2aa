import { FilterError, parse, print, quoted, tokens } from '@quartermaster/filter'
import { caret } from './caret.ts'
import { Condition, textOf } from './condition.ts'

/** A filter built by the `filter` tag, with its values escaped. */
export class FilterText {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text that is sent to the service. */
  toString(): string {
    return this.#text
  }
}

export type TemplateValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | null
  | FilterText
  | Condition<unknown>
  | readonly (string | number | bigint | boolean | Date | null)[]

/**
 * Builds a filter from a template: filter`name=${name}&categ_id[${ids}]`. Values are escaped: no value can end early or
 * add a condition. Do not put quotes around them. A complete filter can be inserted in the position of a condition.
 */
export function filter(parts: TemplateStringsArray, ...values: readonly TemplateValue[]): FilterText {
  let text = parts[0] ?? ''
  for (const [at, value] of values.entries()) {
    const next = parts[at + 1] ?? ''
    if (!/^\s*(?:$|[&|,)\]])/.test(next)) throw misplaced(at, 'text follows it directly')
    text += serialized(value, positionAfter(text, at), at) + next
  }
  return new FilterText(text)
}

type Position = 'condition' | 'value' | 'list'

/** What the grammar allows after this text. Throws if it allows no value, as within quotes. */
function positionAfter(text: string, at: number): Position {
  const last = tokens(text).at(-1)
  if (last === undefined || last.kind === 'and' || last.kind === 'or' || last.kind === 'open')
    return 'condition'
  if (last.kind === 'operator') return last.operator === '[]' || last.operator === '![]' ? 'list' : 'value'
  if (last.kind === 'comma') return 'list'
  throw misplaced(at, last.kind === 'value' ? 'it is within another value' : 'there is no operator before it')
}

function serialized(value: TemplateValue, position: Position, at: number): string {
  if (value instanceof FilterText || value instanceof Condition) {
    if (position !== 'condition') throw misplaced(at, 'a filter is not a value')
    return `(${inGroup(value, at)})`
  }
  if (position === 'condition') throw misplaced(at, 'a value needs a field and an operator before it')
  if (!isList(value)) return serializedValue(value)
  if (position !== 'list') throw misplaced(at, 'a list must be between brackets')
  if (value.length === 0)
    throw misplaced(at, 'the list is empty. Leave the condition out, or do not send the request')
  return value.map(serializedValue).join(',')
}

/**
 * Rewrites a filter so that it means the same in parentheses. `name*:)` is a complete filter, but in parentheses its `)`
 * would end the group. Parsing and printing puts such a value in quotes.
 */
function inGroup(inner: FilterText | Condition<unknown>, at: number): string {
  try {
    return print(parse(inner.toString()))
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { message, offset, length } = error.problem
    throw new TypeError(
      `Value ${at + 1} of the filter is an invalid filter: ${message}\n` +
        caret(inner.toString(), offset, length),
      { cause: error },
    )
  }
}

function isList(value: TemplateValue): value is Extract<TemplateValue, readonly unknown[]> {
  return Array.isArray(value)
}

/** Strings are always quoted, so that no following text becomes part of them. */
function serializedValue(value: string | number | bigint | boolean | Date | null): string {
  if (value === null) return 'null'
  return typeof value === 'string' ? quoted(textOf(value)) : textOf(value)
}

function misplaced(at: number, reason: string): TypeError {
  return new TypeError(
    `Value ${at + 1} of the filter is not allowed here: ${reason}. Write it as name=\${value}, without quotes.`,
  )
}
