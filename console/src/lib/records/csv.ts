import type { Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'
import { plainText } from '../format.ts'

/** A text that a spreadsheet would run as a formula, or save as null. */
const needsMark = /^'*(?:[=+\-@\t\r\n＝＋－＠]|$)/
/** Where a spreadsheet that splits at another separator than a comma would begin a cell with a formula. */
const formulaWithin = /(?<=[;\t\r\n])(?=['"]*[=+\-@＝＋－＠])/g

/** CSV as the service exports it for spreadsheets, so that an import restores the exact texts. */
export function csvOf(fields: readonly Field[], rows: readonly Row[]): string {
  const names = fields.map(({ name, type }) => (type === 'text' ? `'${name}` : name))
  const lines = rows.map((row) => fields.map((field) => cellOf(field, row[field.name])).join(','))
  return [names.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

function cellOf({ type }: Field, value: Row[string] | undefined): string {
  if (value === null || value === undefined) return ''
  const text = plainText(value)
  if (type !== 'text') return text
  const safe = text.replace(formulaWithin, "'").replace(needsMark, (start) => `'${start}`)
  return `"${safe.replaceAll('"', '""')}"`
}
