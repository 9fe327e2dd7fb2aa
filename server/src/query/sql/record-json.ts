import { etagField, type Field, type FieldType } from '../../catalog/field.ts'
import { resources } from '../../catalog/resources.ts'
import { type Fragment, identifier, join, sql } from '../../sql.ts'

/**
 * SQL that builds a record as JSON text, its fields in the requested order. It concatenates the members, because
 * `row_to_json` builds a row first, which takes a tenth of the statement's time. Decimals are stored in their shortest
 * form. `etag`: `etagText` of the statement, if the fields may have it.
 */
export function recordJson(fields: readonly Field[], etag?: Fragment): Fragment {
  return ofAllFields.get(fields) ?? jsonOfFields(fields, etag)
}

function jsonOfFields(fields: readonly Field[], etag?: Fragment): Fragment {
  const members = fields.map((field, i) => {
    const name = identifier(field.name)
    const json = field === etagField ? etagJson(etag) : jsonOf(field)
    return i === 0 ? sql`'{"${name}":' || ${json}` : sql`',"${name}":' || ${json}`
  })
  return sql`${join(members, ' || ')} || '}'`
}

/** Separates the values of `jsonValues`. JSON never contains it, because it escapes control characters. */
export const valueSeparator = '\u001f'

/** SQL that builds the values of the fields as JSON, separated by `valueSeparator`. Null if there is no record. */
export function jsonValues(fields: readonly Field[]): Fragment {
  return join(fields.map(jsonOf), " || e'\\x1f' || ")
}

function jsonOf(field: Field): Fragment {
  const text = jsonText[field.wire ?? field.type](sql`r.${identifier(field.name)}`)
  return field.nullable ? sql`coalesce(${text}, 'null')` : text
}

/** The ETag as a JSON string: its double quotes are part of the text. */
export function etagJson(etag: Fragment | undefined): Fragment {
  if (etag === undefined) throw new Error('this statement computes no ETags')
  return sql`'"\\"' || ${etag} || '\\""'`
}

/** The columns that it reads besides the id, each after a comma. The ETag is computed from the version. */
export function columnsAfterId(fields: readonly Field[]): Fragment {
  return sql`${storedColumns(fields)}${fields.includes(etagField) ? sql`, version` : sql``}`
}

/** The same for a statement that reads the version anyway. */
export function storedColumns(fields: readonly Field[]): Fragment {
  return join(
    storedAfterId(fields).map(({ name }) => sql`, ${identifier(name)}`),
    '',
  )
}

export function storedAfterId(fields: readonly Field[]): readonly Field[] {
  return fields.filter((field) => field.name !== 'id' && field !== etagField)
}

const jsonText: Record<FieldType | NonNullable<Field['wire']>, (column: Fragment) => Fragment> = {
  integer: (column) => sql`${column}::text`,
  decimal: (column) => sql`${column}::text`,
  boolean: (column) => sql`${column}::text`,
  text: (column) => sql`to_json(${column})::text`,
  list: (column) => sql`to_json(string_to_array(${column}, ','))::text`,
  day: (column) => sql`to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD\\"')`,
  timestamp: (column) => sql`to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')`,
}

/** All lists without a `fields` parameter share the array of their resource's fields. */
const ofAllFields: ReadonlyMap<readonly Field[], Fragment> = new Map(
  Object.values(resources).map(({ fields }) => [fields, jsonOfFields(fields)]),
)
