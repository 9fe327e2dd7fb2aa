import type { Condition, Filter, Value } from './ast.ts'

/**
 * The canonical text of a tree: no white space, parentheses only if the tree needs them, quotes only if the parser or a
 * reader could misread the value. Parsing it returns the same tree.
 */
export function print(filter: Filter): string {
  switch (filter.kind) {
    case 'condition':
      return printCondition(filter)
    case 'and':
      return filter.terms
        .map((term) => (term.kind === 'condition' ? print(term) : `(${print(term)})`))
        .join('&')
    case 'or':
      return filter.terms.map((term) => (term.kind === 'or' ? `(${print(term)})` : print(term))).join('|')
    default:
      return filter satisfies never
  }
}

function printCondition({ field, operator, values }: Condition): string {
  const list = values.map(printValue).join(',')
  return operator === '[]' || operator === '![]'
    ? `${field.text}${operator.slice(0, -1)}${list}]`
    : `${field.text}${operator}${list}`
}

// Delimiters, escapes, and control characters, which are hard to see in a log.
const special = /[&|,()[\]"\\\p{Cc}]/u
// `>` before `=5` would be parsed as `>=`. Other operators are parsed correctly, and quoted for the reader.
const misleadingStart = /^[=!*<> ]/

function printValue(value: Value): string {
  return value.kind === 'null' ? 'null' : printText(value.text)
}

/** A text value, in quotes only if it needs them. */
export function printText(text: string): string {
  const bare =
    text !== '' &&
    text !== 'null' &&
    !text.endsWith(' ') &&
    !special.test(text) &&
    !misleadingStart.test(text)
  return bare ? text : quoted(text)
}

/** The text as a quoted value, which has the same meaning in any position. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
