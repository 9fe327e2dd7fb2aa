import type { Field, FieldType } from '../../catalog/field.ts'
import { isOwnField } from '../../catalog/own-fields.ts'
import { type Fragment, identifier, sql, value } from '../../sql.ts'
import type { PlainValue } from '../predicate.ts'
import { parameterTypes } from './parameter-types.ts'

/**
 * The columns of fields in filters. A field of the catalog has a column. The value of a field that the account has declared is a
 * member of the JSON object in `custom`, under the number of the field, which is a parameter: so the statements of accounts with
 * the same kinds of conditions have the same text, and no name that a client chose is part of it. JSON null is never stored.
 */
export function columnOf(field: Field): Fragment {
  if (!isOwnField(field)) return identifier(field.name)
  return ownColumns[field.type](keyOf(field))
}

/** The key of a value in `custom`. */
export function keyOf({ number }: { readonly number: number }): Fragment {
  return sql`${value(String(number))}::text`
}

/** `custom` after a patch, in which null clears a value. */
export function patchedOwn(custom: Fragment, patch: Fragment): Fragment {
  return sql`nullif(jsonb_strip_nulls(coalesce(${custom}, '{}') || ${patch}), '{}')`
}

const number = (key: Fragment) => sql`(custom->${key})::numeric`
const text = (key: Fragment) => sql`((custom->>${key}) collate "C")`

const ownColumns: Record<FieldType, (key: Fragment) => Fragment> = {
  integer: number,
  decimal: number,
  boolean: (key) => sql`(custom->${key})::boolean`,
  text,
  timestamp: text,
}

/** Timestamps are stored as in responses: their texts sort like the times. */
export function parameterTypeOf(field: Field): Fragment {
  return isOwnField(field) ? ownParameterTypes[field.type] : parameterTypes[field.type]
}

const ownParameterTypes: Record<FieldType, Fragment> = {
  ...parameterTypes,
  integer: parameterTypes.decimal,
  timestamp: parameterTypes.text,
}

/** After the year 9999, `:` follows every stored timestamp: as a text, a year with five digits would precede most of them. */
export function parameterOf(field: Field, limit: PlainValue): PlainValue {
  const isBeyond = isOwnField(field) && field.type === 'timestamp' && String(limit).startsWith('10000-')
  return isBeyond ? ':' : limit
}
