import type { Field } from '../catalog/field.ts'
import { type FieldValue, type Rejection, required, valueOfJson, valueOfText } from '../writes/field-value.ts'
import { ownJson } from '../writes/record-values.ts'

/** A value in COPY's text format, or why it was rejected. */
export type Cell = string | Rejection

const requiredText: Rejection = { reason: 'is required; in CSV, an empty text is written as ""' }

export const nullCell = '\\N'

/**
 * Parses a CSV cell. An empty cell is null, so it is rejected if the field must have a value. Only for a text field does it differ
 * from `""`, the empty text.
 */
export function cellOfCsv(field: Field, text: string, quoted: boolean): Cell {
  if (text === '' && quoted && field.type === 'text') return cellOf(field, '')
  if (text === '' && field.nullable) return nullCell
  if (text === '') return field.type === 'text' ? requiredText : required
  return cellOf(field, valueOfText(field, text))
}

/** Parses a member of a JSON object, whose numbers are `JsonNumber`. */
export function cellOfJson(field: Field, value: unknown): Cell {
  return cellOf(field, valueOfJson(field, value))
}

const copyCharacters: Record<string, string> = { t: '\t', n: '\n', r: '\r' }
const copyEscapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** The cell of a field of the account is a member of the JSON object in `custom`, in COPY's text format. */
function cellOf(field: Field, value: FieldValue): Cell {
  if (value === null) return nullCell
  if (field.customKey !== undefined)
    return typeof value === 'string' ? copyText(ownJson(field, value)) : value
  return field.type !== 'text' || typeof value !== 'string' ? value : copyText(value)
}

/** The value of a cell in COPY's text format that is not null. */
export function textOfCopy(cell: string): string {
  return cell.includes('\\') ? cell.replace(/\\(.)/g, (_, c) => copyCharacters[c] ?? c) : cell
}

/** A value as COPY reads it. */
export function copyText(value: string | null): string {
  if (value === null) return nullCell
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (c) => copyEscapes[c] ?? c) : value
}
