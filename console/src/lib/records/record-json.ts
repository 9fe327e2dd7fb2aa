import type { Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'

/** Rows as the service sends them: decimals, which are strings here, are numbers with every digit. */
export function rowsJson(fields: readonly Field[], rows: readonly Row[]): string {
  if (rows.length === 0) return '[]'
  return `[\n${rows.map((row) => indented(rowJson(fields, row))).join(',\n')}\n]`
}

export function rowJson(fields: readonly Field[], row: Row): string {
  const decimals = new Set(fields.filter(({ type }) => type === 'decimal').map(({ name }) => name))
  const members = Object.entries(row).map(([name, value]) => {
    const text = typeof value === 'string' && decimals.has(name) ? value : JSON.stringify(value, null, 2)
    return indented(`${JSON.stringify(name)}: ${text}`)
  })
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
