/**
 * The syntax tree of a filter: plain frozen data, told apart by `kind`.
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
 * Parentheses leave no node of their own, and nesting is kept as it was written: an And within an And was
 * written in parentheses. Values are text here; what a number or a timestamp is, the catalog's types decide.
 */

/** Where a node stands in the filter: UTF-16 code units from its start, as JavaScript counts them. */
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
  /** One value, or for `[]` and `![]` the list. */
  readonly values: readonly Value[]
  /** Where the operator stands; for a list its opening `[` or `![`. */
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
