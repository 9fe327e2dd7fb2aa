import type { RecordField } from '../catalog/field.ts'
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
