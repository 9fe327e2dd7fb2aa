import type { Operator } from '@quartermaster/filter'

export type FieldType = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'

export interface Field {
  /** The name on the wire and of the column. */
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  readonly description: string
  readonly example: string | number | boolean | readonly string[] | null
  /** Characters of a text, as the column's check holds them. */
  readonly charactersMax?: number
  /** How it goes on the wire where that is not as its type does: words between commas as a list, a moment as its day. */
  readonly wire?: 'list' | 'day'
}

/** A field that an import can fill. */
export interface RecordField extends Field {
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
