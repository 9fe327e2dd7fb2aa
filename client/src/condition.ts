import { type Filter, type Operator, print, type Value } from '@quartermaster/filter'

/** A condition on records of one resource, or several joined. Frozen: `and` and `or` give a new one. */
export class Condition<R> {
  /** So that a condition on partners is no condition on products. */
  declare protected readonly of: R
  readonly #tree: Filter

  /** @internal */
  constructor(tree: Filter) {
    this.#tree = tree
  }

  /** This and all others hold. */
  and(...others: readonly Condition<R>[]): Condition<R> {
    return this.#joined('and', others)
  }

  /** This holds, or at least one of the others. */
  or(...others: readonly Condition<R>[]): Condition<R> {
    return this.#joined('or', others)
  }

  /** As it is sent. */
  toString(): string {
    return print(this.#tree)
  }

  #joined(kind: 'and' | 'or', others: readonly Condition<R>[]): Condition<R> {
    const trees = [this.#tree, ...others.map((other) => other.#tree)]
    if (trees.length === 1) return this
    return new Condition({
      kind,
      terms: trees.flatMap((tree) => (tree.kind === kind ? tree.terms : [tree])),
      ...nowhere,
    })
  }
}

export type Kind = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'

/** What a value of each kind is written as. A decimal beyond 15 digits goes as text: `'0.1234567890123456'`. */
export interface ValueOf {
  integer: number | bigint
  decimal: number | bigint | `${number}`
  text: string
  boolean: boolean
  timestamp: Date | string
}

export interface Equality<R, V> {
  /** Equals; `null` where the field can be null. */
  eq(value: V): Condition<R>
  /** Does not equal. Records whose field is null are kept, unless null is the value. */
  ne(value: V): Condition<R>
  /** Is one of these; at least one must be given. */
  in(values: readonly V[]): Condition<R>
  /** Is none of these. */
  notIn(values: readonly V[]): Condition<R>
}

export interface Order<R, V> {
  gt(value: V): Condition<R>
  gte(value: V): Condition<R>
  lt(value: V): Condition<R>
  lte(value: V): Condition<R>
}

export interface Containing<R> {
  /** Has this text in it, in upper or lower case. */
  contains(text: string): Condition<R>
  notContains(text: string): Condition<R>
}

/** What can be asked of a field: every kind has its operators, as in docs/filter-language.md. */
type FieldOf<R, K extends Kind, N> = Equality<R, ValueOf[K] | N> &
  (K extends 'text' ? Containing<R> : K extends 'boolean' ? unknown : Order<R, ValueOf[K]>)

/** The fields of a resource, to make conditions of. */
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

/** Every name gives a field: the type says which there are, and the service has the last word. */
export function fieldsOf<R, K>(): Fields<R, K> {
  return new Proxy<Fields<R, K>>(Object.create(null), { get: (_, name) => fieldNamed(String(name)) })
}

function fieldNamed(name: string): unknown {
  const methods = Object.entries(operatorOf).map(([method, operator]) => [
    method,
    (given: unknown) => conditionOf(name, operator, operator.endsWith('[]') ? listOf(given) : [given]),
  ])
  return Object.fromEntries(methods)
}

function conditionOf(name: string, operator: Operator, given: readonly unknown[]): Condition<never> {
  const field = { text: name, ...nowhere }
  return new Condition({
    kind: 'condition',
    field,
    operator,
    values: given.map(literal),
    operatorSpan: nowhere,
    ...nowhere,
  })
}

function listOf(given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) throw new TypeError('in() and notIn() take an array of values.')
  if (given.length === 0) {
    throw new TypeError(
      'The list of in() or notIn() is empty. Leave the condition out, or do not ask at all.',
    )
  }
  return given
}

/** Nodes made here were never written, so they stand nowhere. */
const nowhere = { offset: 0, length: 0 } as const

function literal(given: unknown): Value {
  return given === null ? { kind: 'null', ...nowhere } : { kind: 'text', text: textOf(given), ...nowhere }
}

/** A value as the filter language writes it, without quotes. What it cannot say is refused here. */
export function textOf(given: unknown): string {
  if (typeof given === 'string') {
    if (!given.isWellFormed())
      throw new TypeError('A value has half of a surrogate pair in it, which is no character.')
    return given
  }
  if (typeof given === 'number' && !Number.isFinite(given))
    throw new TypeError(`${given} is no value for a filter.`)
  if (typeof given === 'number' || typeof given === 'bigint' || typeof given === 'boolean')
    return String(given)
  if (given instanceof Date) {
    if (Number.isNaN(given.getTime())) throw new TypeError('An invalid Date is no value for a filter.')
    return given.toISOString()
  }
  const what = given === undefined ? 'undefined' : `a value of type ${typeof given}`
  throw new TypeError(`${what} is no value for a filter: it takes texts, numbers, booleans, Dates and null.`)
}
