import { FilterError, parse, print, quoted, tokens } from '@quartermaster/filter'
import { caret } from './caret.ts'
import { Condition, textOf } from './condition.ts'

/** A filter as text, made by the tag `filter`: its values are in it, escaped. */
export class FilterText {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** As it is sent. */
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
 * A filter with values in it: filter`name=${name}&categ_id[${ids}]`. Whatever a value holds, it is one value: it can
 * neither end early nor add a condition. Do not put quotes around it. A whole filter may stand where a condition could.
 */
export function filter(parts: TemplateStringsArray, ...values: readonly TemplateValue[]): FilterText {
  let text = parts[0] ?? ''
  for (const [at, value] of values.entries()) {
    const next = parts[at + 1] ?? ''
    if (!/^\s*(?:$|[&|,)\]])/.test(next)) throw misplaced(at, 'text follows it directly')
    text += written(value, placeAfter(text, at), at) + next
  }
  return new FilterText(text)
}

type Place = 'condition' | 'value' | 'list'

/** What can stand after this text, by the grammar itself: within quotes, for instance, nothing. */
function placeAfter(text: string, at: number): Place {
  const last = tokens(text).at(-1)
  if (last === undefined || last.kind === 'and' || last.kind === 'or' || last.kind === 'open')
    return 'condition'
  if (last.kind === 'operator') return last.operator === '[]' || last.operator === '![]' ? 'list' : 'value'
  if (last.kind === 'comma') return 'list'
  throw misplaced(at, last.kind === 'value' ? 'it is within another value' : 'no operator stands before it')
}

function written(value: TemplateValue, place: Place, at: number): string {
  if (value instanceof FilterText || value instanceof Condition) {
    if (place !== 'condition') throw misplaced(at, 'a whole filter is no value')
    return `(${inGroup(value, at)})`
  }
  if (place === 'condition') throw misplaced(at, 'a value needs a field and an operator before it')
  if (!isList(value)) return writtenOne(value)
  if (place !== 'list') throw misplaced(at, 'a list goes between brackets')
  if (value.length === 0)
    throw misplaced(at, 'the list is empty. Leave the condition out, or do not ask at all')
  return value.map(writtenOne).join(',')
}

/**
 * The text of a filter that means the same in parentheses. As it was written it may not: `name*:)` is a whole filter, but in
 * parentheses its `)` ends the group. Printed from its tree, such a value is in quotes.
 */
function inGroup(inner: FilterText | Condition<unknown>, at: number): string {
  try {
    return print(parse(inner.toString()))
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { message, offset, length } = error.problem
    throw new TypeError(
      `Value ${at + 1} of the filter is a filter that is not right itself: ${message}\n` +
        caret(inner.toString(), offset, length),
      { cause: error },
    )
  }
}

function isList(value: TemplateValue): value is Extract<TemplateValue, readonly unknown[]> {
  return Array.isArray(value)
}

/** Texts always in quotes: so nothing that follows can be taken for a part of them. */
function writtenOne(value: string | number | bigint | boolean | Date | null): string {
  if (value === null) return 'null'
  return typeof value === 'string' ? quoted(textOf(value)) : textOf(value)
}

function misplaced(at: number, why: string): TypeError {
  return new TypeError(
    `Value ${at + 1} of the filter cannot stand there: ${why}. Write it as name=\${value}, without quotes.`,
  )
}
