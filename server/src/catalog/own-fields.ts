import { limits } from '../limits/limits.ts'
import type { FieldKey, FieldType, RecordField } from './field.ts'
import type { Resource } from './resources.ts'

/**
 * Null: the field is not unique. `waiting`: no write maintains its values yet. `building`: they are not complete yet. `duplicates`: two
 * records have one value.
 */
export type UniqueState = 'ready' | 'waiting' | 'building' | 'duplicates' | null

/** A field that an account has declared, or one of the catalog that it has made unique, as it is stored. */
export interface FieldDefinition {
  readonly number: number
  readonly name: string
  readonly type: FieldType
  readonly label: string
  readonly unique?: UniqueState
}

/** A field of which no two records have the same value. */
export type KeyField = RecordField & { readonly key: FieldKey }

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
  const named = new Map(definitions.map((definition) => [definition.name, definition]))
  const own = definitions.filter(({ name }) => isOwnFieldName(name))
  const fields = [
    ...resource.fields.map((field) => ({ ...field, ...keyOf(named.get(field.name)) })),
    ...own.map(fieldOf),
  ]
  return { ...resource, schema, schemaName: `${resource.name}:${schema}`, fields }
}

const examples: Record<FieldType, string | number | boolean> = {
  text: 'A-4711',
  integer: 4711,
  decimal: 12.5,
  boolean: true,
  timestamp: '2026-11-14T09:30:00.000Z',
}

function fieldOf(definition: FieldDefinition): RecordField {
  const { number, name, type, label } = definition
  return {
    name,
    type,
    nullable: true,
    description: label === '' ? 'A field of this account.' : label,
    example: examples[type],
    ...(type === 'text' ? { charactersMax: limits.ownTextCharactersMax } : {}),
    absent: null,
    customKey: String(number),
    ...keyOf(definition),
  }
}

function keyOf(definition: FieldDefinition | undefined): { readonly key?: FieldKey } {
  const { number, unique } = definition ?? {}
  const isMaintained = unique === 'ready' || unique === 'building'
  return number !== undefined && isMaintained ? { key: { number, isReady: unique === 'ready' } } : {}
}

/** The unique fields of an account, which every write maintains. */
export function keyFieldsOf({ fields }: Resource): readonly KeyField[] {
  return fields.filter((field): field is KeyField => field.key !== undefined)
}
