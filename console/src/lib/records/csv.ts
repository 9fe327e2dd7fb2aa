import type { Row } from '../../api/read.ts'
import { plainText } from '../format.ts'

/** Characters with which a spreadsheet starts a formula. The service's own export neutralises them in the same way. */
const formulaStart = /^'*[=+\-@\t\r\n＝＋－＠]/

/** CSV as the service exports it: texts in quotes, null as an empty cell, CRLF line ends. */
export function csvOf(fields: readonly string[], rows: readonly Row[]): string {
  const lines = rows.map((row) => fields.map((field) => cellOf(row[field])).join(','))
  return [fields.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

function cellOf(value: Row[string] | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = plainText(value)
  return `"${(formulaStart.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}
