import type { Field, RecordField } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import type { Position } from '../tally-state.ts'

/** Validated fields of a record, in the text form of PostgreSQL. */
export type RecordValues = ReadonlyMap<string, string | null>

/** The ETag of a complete record. */
export type EtagOf = (id: string, position: Position) => string

/** The fields to which an adjustment can add: integers are ids of other records. */
export function adjustableFields(resource: Resource): readonly RecordField[] {
  return writableFields(resource).filter(({ type }) => type === 'decimal')
}

/** The fields that a client may set. The service assigns the others. */
export function writableFields({ fields }: Resource): readonly RecordField[] {
  return fields.filter(({ name, absent }) => name !== 'id' && absent !== 'now')
}

/** Those that have a column. */
export function writableColumns(resource: Resource): readonly RecordField[] {
  return writableFields(resource).filter((field) => field.customKey === undefined)
}

/**
 * The values of the account's own fields as the JSON object that is stored in `custom`; undefined if there are none. In a patch a
 * null clears the field; a new record has no nulls.
 */
export function ownValues(
  { fields, schema }: Resource,
  values: RecordValues,
  { withNulls }: { readonly withNulls: boolean },
): string | undefined {
  if (schema === undefined) return undefined
  const members = fields.flatMap((field) => {
    const text = values.get(field.name)
    if (field.customKey === undefined || text === undefined || (text === null && !withNulls)) return []
    return [`"${field.customKey}":${ownJson(field, text)}`]
  })
  return members.length === 0 ? undefined : `{${members.join(',')}}`
}

/** A value in `custom`, from its text form. */
export function ownJson({ type }: Field, text: string | null): string {
  if (text === null) return 'null'
  return type === 'text' || type === 'timestamp' ? JSON.stringify(text) : text
}
