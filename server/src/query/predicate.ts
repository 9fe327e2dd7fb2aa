import type { Field } from '../catalog/field.ts'

/**
 * What a filter asks of a record, typed and checked: the middle between the syntax tree and SQL.
 *
 *     Predicate ─┬─ All       { terms }              every one holds
 *                ├─ Some      { terms }              at least one holds
 *                ├─ OneOf     { field, values }      equals one of the values
 *                ├─ NoneOf    { field, values }      equals none of them (many values; few become Ranges)
 *                ├─ Ranges    { field, ranges }      lies in one of the ranges, which are apart and in order
 *                ├─ Contains  { field, text }        contains the text, whatever its case; or, negated, does not
 *                └─ Known     { field }              is not null
 *
 * `orNull` adds the records whose field is null: what is not equal to a value, or not in a list, may be nothing at all.
 */
export type Predicate = All | Some | OneOf | NoneOf | Ranges | Contains | Known

/** Values as PostgreSQL reads them from text; the field's type is cast to in SQL. */
export type PlainValue = string | boolean

export interface All {
  readonly kind: 'all'
  readonly terms: readonly Predicate[]
}

export interface Some {
  readonly kind: 'some'
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
  readonly from?: Border
  readonly to?: Border
}

export interface Border {
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

export interface Known {
  readonly kind: 'known'
  readonly field: Field
}
