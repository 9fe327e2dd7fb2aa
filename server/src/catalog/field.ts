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
  /** Most records have no value, so the index of the column has only the others. */
  readonly isMostlyNull?: true
  /** Of a field that the account has declared: the key of its value in the column `custom`. It has no column of its own. */
  readonly customKey?: string
  /** A stored field of the catalog without an index. */
  readonly unindexed?: true
}

/** The ETag of a record, which only `fields` names. Its text is exactly the value of the header. */
export const etagField: Field = {
  name: 'etag',
  type: 'text',
  nullable: false,
  description:
    'The ETag of the record, as `If-Match` takes it: with its double quotes. Only if `fields` names it.',
  example: '"12-5f1c20b7e6a41b2c-42-VBhmU6_XW5XHOVnE"',
}

/** A field that an import can fill. */
export interface RecordField extends Field {
  /** The value if an import file has no such column: `required` is an error, `now` the time of the import. */
  readonly absent: 'required' | 'now' | null | number | boolean
  /** A field of the catalog that an account can make unique. */
  readonly canBeUnique?: true
  /** If no two records of the account have the same value. */
  readonly key?: FieldKey
}

export interface FieldKey {
  /** Identifies the key in the table of its values. */
  readonly number: number
  /** All values are in that table, so that records can be found by it. */
  readonly isReady: boolean
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
