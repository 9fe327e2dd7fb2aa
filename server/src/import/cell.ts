import type { Field } from '../catalog/field.ts'
import { type FieldValue, type Rejection, required, valueOfJson, valueOfText } from '../writes/field-value.ts'

/** A value in COPY's text format, or why it was rejected. */
export type Cell = string | Rejection

export const nullCell = '\\N'

/** Parses a CSV cell. Only for a text field does an empty cell (null) differ from `""` (the empty text). */
export function cellOfCsv(field: Field, text: string, quoted: boolean): Cell {
  if (text === '' && field.type === 'text') return quoted || !field.nullable ? '' : nullCell
  if (text === '') return field.nullable ? nullCell : required
  return cellOf(field, valueOfText(field, text))
}

/** Parses a member of a JSON object, whose numbers are `JsonNumber`. */
export function cellOfJson(field: Field, value: unknown): Cell {
  return cellOf(field, valueOfJson(field, value))
}

const copyEscapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function cellOf(field: Field, value: FieldValue): Cell {
  if (value === null) return nullCell
  if (field.type !== 'text' || typeof value !== 'string') return value
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (c) => copyEscapes[c] ?? c) : value
}
