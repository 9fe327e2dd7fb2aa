import { type Filter, type Operator, print, type Value } from '@quartermaster/filter'

/** One condition on the records of a resource, or several combined. Immutable: `and` and `or` return a new one. */
export class Condition<R> {
  /** Makes a condition on partners and one on products different types. */
  declare protected readonly of: R
  readonly #tree: Filter

  /** @internal */
  constructor(tree: Filter) {
    this.#tree = tree
  }

  /** Matches if this condition and all others match. */
  and(...others: readonly Condition<R>[]): Condition<R> {
    return this.#combined('and', others)
  }

  /** Matches if this condition or at least one of the others matches. */
  or(...others: readonly Condition<R>[]): Condition<R> {
    return this.#combined('or', others)
  }

  /** The text that is sent to the service. */
  toString(): string {
    return print(this.#tree)
  }

  #combined(kind: 'and' | 'or', others: readonly Condition<R>[]): Condition<R> {
    const trees = [this.#tree, ...others.map((other) => other.#tree)]
    if (trees.length === 1) return this
    return new Condition({
      kind,
      terms: trees.flatMap((tree) => (tree.kind === kind ? tree.terms : [tree])),
      ...noPosition,
    })
  }
}

export type Kind = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'

/** The TypeScript type of a value of each kind. Pass a decimal of more than 15 digits as a string: `'0.1234567890123456'`. */
export interface ValueOf {
  integer: number | bigint
  decimal: number | bigint | `${number}`
  text: string
  boolean: boolean
  timestamp: Date | string
}

export interface Equality<R, V> {
  /** Equals. Accepts `null` if the field is nullable. */
  eq(value: V): Condition<R>
  /** Does not equal. Also matches records whose field is null, unless the value is null. */
  ne(value: V): Condition<R>
  /** Is one of these. The list must not be empty. */
  in(values: readonly V[]): Condition<R>
  /** Is none of these. The list must not be empty. */
  notIn(values: readonly V[]): Condition<R>
}

export interface Comparison<R, V> {
  gt(value: V): Condition<R>
  gte(value: V): Condition<R>
  lt(value: V): Condition<R>
  lte(value: V): Condition<R>
}

export interface TextSearch<R> {
  /** Contains this text, ignoring case. */
  contains(text: string): Condition<R>
  notContains(text: string): Condition<R>
}

/** The operators of a field, by its kind, as in docs/filter-language.md. */
type FieldOf<R, K extends Kind, N> = Equality<R, ValueOf[K] | N> &
  (K extends 'text' ? TextSearch<R> : K extends 'boolean' ? unknown : Comparison<R, ValueOf[K]>)

/** The fields of a resource, with a method for each operator. */
export type Fields<R, K> = {
  readonly [F in keyof K & keyof R]: FieldOf<R, K[F] & Kind, Extract<R[F], null>>
}

export const operatorOf = {
  eq: '=',
  ne: '!=',
  contains: '*',
  notContains: '!*',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  in: '[]',
  notIn: '![]',
} as const satisfies Record<string, Operator>

/** Any property is a field: the compiler checks the names, and the service rejects unknown ones. */
export function fieldsOf<R, K>(): Fields<R, K> {
  return new Proxy<Fields<R, K>>(Object.create(null), { get: (_, name) => fieldNamed(String(name)) })
}

function fieldNamed(name: string): unknown {
  const methods = Object.entries(operatorOf).map(([method, operator]) => [
    method,
    (input: unknown) => conditionOf(name, operator, operator.endsWith('[]') ? listOf(input) : [input]),
  ])
  return Object.fromEntries(methods)
}

function conditionOf(name: string, operator: Operator, values: readonly unknown[]): Condition<never> {
  const field = { text: name, ...noPosition }
  return new Condition({
    kind: 'condition',
    field,
    operator,
    values: values.map(literal),
    operatorSpan: noPosition,
    ...noPosition,
  })
}

function listOf(input: unknown): readonly unknown[] {
  if (!Array.isArray(input)) throw new TypeError('in() and notIn() take an array of values.')
  if (input.length === 0) {
    throw new TypeError(
      'The list of in() or notIn() is empty. Leave the condition out, or do not send the request.',
    )
  }
  return input
}

/** Nodes built here have no source text, so no position in it. */
const noPosition = { offset: 0, length: 0 } as const

function literal(value: unknown): Value {
  return value === null
    ? { kind: 'null', ...noPosition }
    : { kind: 'text', text: textOf(value), ...noPosition }
}

/** A value in the notation of the filter language, without quotes. Throws if the language cannot express it. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') {
    if (!value.isWellFormed())
      throw new TypeError('A value contains half of a surrogate pair, which is not a character.')
    return value
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${value} is not a filter value.`)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError('An invalid Date is not a filter value.')
    return value.toISOString()
  }
  const what = value === undefined ? 'undefined' : `a value of type ${typeof value}`
  throw new TypeError(`${what} is not a filter value. Pass a string, number, bigint, boolean, Date or null.`)
}
