import type { Operator } from '@quartermaster/filter'

export type FieldType = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'

export interface Field {
  /** The name on the wire and of the column. */
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  readonly description: string
  readonly example: string | number | boolean
  /** Characters of a text, as the column's check holds them. */
  readonly charactersMax?: number
  /** What an import takes where the file has no such column: a value, the moment of the import, or nothing: required. */
  readonly absent: 'required' | 'now' | null | number | boolean
}

export const operatorsOf: Record<FieldType, readonly Operator[]> = {
  text: ['=', '!=', '*', '!*', '[]', '![]'],
  integer: ['=', '!=', '>', '>=', '<', '<=', '[]', '![]'],
  decimal: ['=', '!=', '>', '>=', '<', '<=', '[]', '![]'],
  timestamp: ['=', '!=', '>', '>=', '<', '<=', '[]', '![]'],
  boolean: ['=', '!=', '[]', '![]'],
}

/** With its article, as an error or a document says it. */
export const typeNames: Record<FieldType, string> = {
  text: 'a text',
  integer: 'an integer',
  decimal: 'a decimal number',
  timestamp: 'a timestamp',
  boolean: 'a boolean',
}
