import type { CallOptions } from './sender.ts'
import type { SummaryMeta } from './wire.ts'

type NameOf<K, Allowed> = {
  [F in keyof K & string]: K[F] extends Allowed ? F : never
}[keyof K & string]

/** A field by which a summary can be grouped. A timestamp has a unit of time: `create_date:month`. */
export type GroupName<K> =
  | NameOf<K, 'integer' | 'decimal' | 'text' | 'boolean'>
  | `${NameOf<K, 'timestamp'>}:${'day' | 'week' | 'month'}`

/** The names of fields; undefined if there are none. */
type Some<Name> = readonly Name[] | undefined
export type Groups<K> = Some<GroupName<K>>
export type Numbers<K> = Some<NameOf<K, 'integer' | 'decimal'>>
export type Ordered<K> = Some<NameOf<K, 'integer' | 'decimal' | 'timestamp'>>

export interface SummaryOptions<Filter, G, Sum, Min, Max, Avg> extends CallOptions {
  readonly filter?: Filter | undefined
  /** Up to two fields. Without any, all records are one group. */
  readonly group?: G
  readonly sum?: Sum
  readonly min?: Min
  readonly max?: Max
  readonly avg?: Avg
}

export interface Summary<Group> {
  /** In the order of the values of the group; null is last. */
  readonly data: Group[]
  readonly meta: SummaryMeta
  /** Changes with every write to this resource of the account: equal versions mean equal data. */
  readonly version: string | undefined
  readonly requestId: string | undefined
}

/** A group: the number of its records, and what was requested of their values. */
export type SummaryGroup<R, G, Sum, Min, Max, Avg> = {
  /** The values by which the records are grouped. A timestamp is the first day of its unit: `2026-11-01`. */
  readonly group: GroupValues<R, G>
  readonly count: number
} & Measures<'sum', R, Sum, never> &
  Measures<'min', R, Min, null> &
  Measures<'max', R, Max, null> &
  Measures<'avg', R, Avg, null>

/** `Empty`: the value without any values. */
type Measures<Name extends string, R, Fields, Empty> = Fields extends readonly (infer F)[]
  ? { readonly [N in Name]: Known<Fields, { readonly [One in F & keyof R]: NonNullable<R[One]> | Empty }> }
  : unknown

type GroupValues<R, G> = G extends readonly (infer N)[]
  ? Known<G, { readonly [One in N & string as FieldOf<One>]: ValueOf<R, One> }>
  : Readonly<Record<string, never>>

/** If the compiler does not know the array's elements, every field is optional. */
type Known<Names extends readonly unknown[], Values> = number extends Names['length']
  ? Partial<Values>
  : Values

type FieldOf<Name extends string> = Name extends `${infer F}:${string}` ? F : Name

type ValueOf<R, Name extends string> = Name extends `${infer F}:${string}`
  ? string | Extract<R[F & keyof R], null>
  : R[Name & keyof R]

/** The parameters of the request. */
export function summaryParameters(
  options: SummaryOptions<unknown, Some<string>, Some<string>, Some<string>, Some<string>, Some<string>>,
) {
  const { group, sum, min, max, avg } = options
  return {
    group: group?.join(),
    sum: sum?.join(),
    min: min?.join(),
    max: max?.join(),
    avg: avg?.join(),
  }
}
