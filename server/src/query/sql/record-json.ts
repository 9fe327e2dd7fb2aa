import { etagField, type Field, type FieldType } from '../../catalog/field.ts'
import { resources } from '../../catalog/resources.ts'
import { type Fragment, identifier, join, nameInText, sql, value } from '../../sql.ts'

/**
 * SQL that builds a record as JSON text, its fields in the requested order. It concatenates the members, because
 * `row_to_json` builds a row first, which takes a tenth of the statement's time. Decimals are stored in their shortest
 * form. `etag`: the ETag in this statement, if the fields may have it.
 */
export function recordJson(fields: readonly Field[], etag?: () => Fragment): Fragment {
  return ofAllFields.get(fields) ?? jsonOfFields(fields, etag)
}

function jsonOfFields(fields: readonly Field[], etag?: () => Fragment): Fragment {
  const members: Fragment[] = []
  for (let i = 0; i < fields.length; ) {
    const own = fields.slice(i, endOfOwn(fields, i))
    const field = fields[i]
    if (field === undefined) break
    if (own.length > 0) members.push(ownMembers(own, i === 0))
    else {
      const name = nameInText(field.name)
      const json = field === etagField ? etagJson(etag?.()) : jsonOf(field)
      members.push(i === 0 ? sql`'{"${name}":' || ${json}` : sql`',"${name}":' || ${json}`)
    }
    i += Math.max(1, own.length)
  }
  return sql`${join(members, ' || ')} || '}'`
}

/** Where the fields of the account that begin here end. */
function endOfOwn(fields: readonly Field[], start: number): number {
  let end = start
  while (fields[end]?.customKey !== undefined) end++
  return end
}

/** Members from `custom`, in this order. Their names are parameters, so that they are no part of a statement's text. */
function ownMembers(fields: readonly Field[], isFirst: boolean): Fragment {
  const labels = fields.map(({ name }, i) => `${i === 0 && isFirst ? '{' : ','}"${name}":`)
  const keys = fields.map(({ customKey }) => customKey)
  return sql`(select string_agg(f.label || coalesce((r.custom->f.key)::text, 'null'), '' order by f.n)
    from unnest(${value(labels)}::text[], ${value(keys)}::text[]) with ordinality f(label, key, n))`
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

/** A value of this type as JSON; null if it is null. */
export function valueJson(type: FieldType, column: Fragment): Fragment {
  return jsonText[type](column)
}

/** The ETag as a JSON string: its double quotes are part of the text. */
export function etagJson(etag: Fragment | undefined): Fragment {
  if (etag === undefined) throw new Error('this statement computes no ETags')
  return sql`'"\\"' || ${etag} || '\\""'`
}

/** The columns that it reads besides the id. The ETag is computed from the version. */
export function columnNames(fields: readonly Field[]): readonly string[] {
  const own = fields.some(({ customKey }) => customKey !== undefined) ? ['custom'] : []
  const columns = fields.filter(
    (field) => field.customKey === undefined && field.name !== 'id' && field !== etagField,
  )
  return [...columns.map(({ name }) => name), ...own]
}

/** The same, each after a comma. */
export function columnsAfterId(fields: readonly Field[]): Fragment {
  return sql`${storedColumns(fields)}${fields.includes(etagField) ? sql`, version` : sql``}`
}

/** The same for a statement that reads the version anyway. */
export function storedColumns(fields: readonly Field[]): Fragment {
  return join(
    columnNames(fields).map((name) => sql`, ${identifier(name)}`),
    '',
  )
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
