import type { FieldType } from '../../catalog/field.ts'
import type { KeyField } from '../../catalog/own-fields.ts'
import { type Fragment, identifier, sql, value } from '../../sql.ts'
import type { PlainValue } from '../predicate.ts'
import { parameterTypes } from './parameter-types.ts'

/**
 * The values of fields that accounts have declared. Such a value is a member of the JSON object in `custom`, under the number of the field,
 * which is a parameter: so the statements of accounts with the same kinds of conditions have the same text, and no name that a client
 * chose is part of it. JSON null is never stored.
 */
export function ownColumn(type: FieldType, customKey: string): Fragment {
  return ownColumns[type](keyOf(customKey))
}

/** The key of a value in `custom`. */
export function keyOf(customKey: string): Fragment {
  return sql`${value(customKey)}::text`
}

/** The value of a unique field of a record as text, as it is in the table of keys. */
export function keyText(field: KeyField, record: Fragment): Fragment {
  const { name, customKey } = field
  return customKey === undefined
    ? sql`${record}.${identifier(name)}`
    : sql`(${record}.custom->>${keyOf(customKey)}) collate "C"`
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
export const ownParameterTypes: Record<FieldType, Fragment> = {
  ...parameterTypes,
  integer: parameterTypes.decimal,
  timestamp: parameterTypes.text,
}

/** After the year 9999, `:` follows every stored timestamp: as a text, a year with five digits would precede most of them. */
export function ownParameter(type: FieldType, limit: PlainValue): PlainValue {
  return type === 'timestamp' && String(limit).startsWith('10000-') ? ':' : limit
}
