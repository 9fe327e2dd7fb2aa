import type { Operator } from '@quartermaster/filter'

export type FieldType = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'

export interface Field {
  /** The name in JSON and of the column. */
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  readonly description: string
  readonly example: string | number | boolean | readonly string[] | null
  /** The maximum length of a text, which a check constraint of the column enforces. */
  readonly charactersMax?: number
  /** A JSON form other than that of the type: comma-separated text as an array, or a timestamp as its day. */
  readonly wire?: 'list' | 'day'
}

/** A field that an import can fill. */
export interface RecordField extends Field {
  /** The value if an import file has no such column: `required` is an error, `now` the time of the import. */
  readonly absent: 'required' | 'now' | null | number | boolean
}

export const operatorsOf: Record<FieldType, readonly Operator[]> = {
  text: ['=', '!=', '*', '!*', '[]', '![]'],
  integer: ['=', '!=', '>', '>=', '<', '<=', '[]', '![]'],
  decimal: ['=', '!=', '>', '>=', '<', '<=', '[]', '![]'],
  timestamp: ['=', '!=', '>', '>=', '<', '<=', '[]', '![]'],
  boolean: ['=', '!=', '[]', '![]'],
}

/** With its article, for error messages and documents. */
export const typeNames: Record<FieldType, string> = {
  text: 'a text',
  integer: 'an integer',
  decimal: 'a decimal number',
  timestamp: 'a timestamp',
  boolean: 'a boolean',
}
