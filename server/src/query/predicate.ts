import type { Field } from '../catalog/field.ts'

/**
 * A filter with its names resolved and its values checked: the step between the syntax tree and SQL.
 *
 *     Predicate ─┬─ All       { terms }              every term is true
 *                ├─ Any       { terms }              at least one term is true
 *                ├─ OneOf     { field, values }      equals one of the values
 *                ├─ NoneOf    { field, values }      equals none of the values (above filterGapValuesMax; otherwise Ranges)
 *                ├─ Ranges    { field, ranges }      is in one of the ranges, which are sorted and do not overlap
 *                ├─ Contains  { field, text }        contains the text, ignoring case; or, negated, does not
 *                └─ NotNull   { field }              is not null
 *
 * `orNull` also matches records whose field is null, because `!=` and `![]` match null.
 */
export type Predicate = All | Any | OneOf | NoneOf | Ranges | Contains | NotNull

/** A value as text that PostgreSQL parses (the SQL casts it to the field's type), or a boolean. */
export type PlainValue = string | boolean

export interface All {
  readonly kind: 'all'
  readonly terms: readonly Predicate[]
}

export interface Any {
  readonly kind: 'any'
  readonly terms: readonly Predicate[]
}

export interface OneOf {
  readonly kind: 'one-of'
  readonly field: Field
  readonly values: readonly PlainValue[]
  readonly orNull: boolean
}

export interface NoneOf {
  readonly kind: 'none-of'
  readonly field: Field
  readonly values: readonly PlainValue[]
  readonly orNull: boolean
}

export interface Ranges {
  readonly kind: 'ranges'
  readonly field: Field
  readonly ranges: readonly Range[]
  readonly orNull: boolean
}

export interface Range {
  readonly from?: Bound
  readonly to?: Bound
}

export interface Bound {
  readonly value: PlainValue
  readonly inclusive: boolean
}

export interface Contains {
  readonly kind: 'contains'
  readonly field: Field
  readonly text: string
  readonly negated: boolean
  readonly orNull: boolean
}

export interface NotNull {
  readonly kind: 'not-null'
  readonly field: Field
}
