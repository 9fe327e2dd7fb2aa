import { limits } from '../limits/limits.ts'
import type { FieldType, RecordField } from './field.ts'
import type { Resource } from './resources.ts'

/** A field that an account has declared, as it is stored. */
export interface FieldDefinition {
  readonly number: number
  readonly name: string
  readonly type: FieldType
  readonly label: string
}

/** The prefix keeps these names apart from every field that a later version of the catalog may have. */
export function isOwnFieldName(name: string): boolean {
  return /^x_[a-z][a-z0-9_]{0,58}$/.test(name)
}

/** The resource with the fields that the account has declared, after those of the catalog. */
export function withOwnFields(
  resource: Resource,
  schema: string,
  definitions: readonly FieldDefinition[],
): Resource {
  if (definitions.length === 0) return resource
  return { ...resource, schema, fields: [...resource.fields, ...definitions.map(fieldOf)] }
}

const examples: Record<FieldType, string | number | boolean> = {
  text: 'A-4711',
  integer: 4711,
  decimal: 12.5,
  boolean: true,
  timestamp: '2026-11-14T09:30:00.000Z',
}

function fieldOf({ number, name, type, label }: FieldDefinition): RecordField {
  if (!isOwnFieldName(name)) throw new Error(`not the name of an own field: ${JSON.stringify(name)}`)
  return {
    name,
    type,
    nullable: true,
    description: label === '' ? 'A field of this account.' : label,
    example: examples[type],
    ...(type === 'text' ? { charactersMax: limits.ownTextCharactersMax } : {}),
    absent: null,
    number,
  }
}

/** A field whose value is in `custom`. */
export function isOwnField<Of extends { readonly number?: number }>(
  field: Of,
): field is Of & { readonly number: number } {
  return field.number !== undefined
}
