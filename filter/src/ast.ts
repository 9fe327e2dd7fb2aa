/**
 * The syntax tree of a filter: frozen plain objects, discriminated by `kind`.
 *
 *     Filter ─┬─ Or         { terms: Filter[2..] }
 *             ├─ And        { terms: Filter[2..] }
 *             └─ Condition  { field: Name, operator, values: Value[1..] }
 *
 *     Value  ─┬─ Text       { text }
 *             └─ Null
 *
 * `price>10&(active=true|name*bolt)` is
 *
 *     And ─┬─ Condition price > "10"
 *          └─ Or ─┬─ Condition active = "true"
 *                 └─ Condition name * "bolt"
 *
 * Parentheses have no node. The tree is not flattened: an And within an And was written in parentheses. All values are
 * text here; the service parses numbers and timestamps by the type of the field.
 */

/** The position of a node in the filter, in UTF-16 code units, as in JavaScript strings. */
export interface Span {
  readonly offset: number
  readonly length: number
}

export const operators = ['=', '!=', '*', '!*', '>', '>=', '<', '<=', '[]', '![]'] as const
export type Operator = (typeof operators)[number]

export interface Name extends Span {
  readonly text: string
}

export interface TextValue extends Span {
  readonly kind: 'text'
  readonly text: string
}

/** Bare `null`. The text "null" is written in quotes. */
export interface NullValue extends Span {
  readonly kind: 'null'
}

export type Value = TextValue | NullValue

export interface Condition extends Span {
  readonly kind: 'condition'
  readonly field: Name
  readonly operator: Operator
  /** One value; for `[]` and `![]` the list of values. */
  readonly values: readonly Value[]
  /** The position of the operator; for a list, of its opening `[` or `![`. */
  readonly operatorSpan: Span
}

export interface And extends Span {
  readonly kind: 'and'
  readonly terms: readonly Filter[]
}

export interface Or extends Span {
  readonly kind: 'or'
  readonly terms: readonly Filter[]
}

export type Filter = And | Or | Condition
