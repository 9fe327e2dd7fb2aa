import type { Field } from '../../api/catalog.ts'
import type { Row } from '../../api/read.ts'

/** Rows as the service sends them: decimals, which are strings here, are numbers with every digit. */
export function rowsJson(fields: readonly Field[], rows: readonly Row[]): string {
  if (rows.length === 0) return '[]'
  return `[\n${rows.map((row) => indented(rowJson(fields, row))).join(',\n')}\n]`
}

/** Each row on a line of its own. */
export function rowsNdjson(fields: readonly Field[], rows: readonly Row[]): string {
  const decimals = decimalsOf(fields)
  return rows
    .map((row) => {
      const members = Object.entries(row).map(
        ([name, value]) => `${JSON.stringify(name)}:${valueJson(decimals, name, value)}`,
      )
      return `{${members.join(',')}}\n`
    })
    .join('')
}

export function rowJson(fields: readonly Field[], row: Row): string {
  const decimals = decimalsOf(fields)
  const members = Object.entries(row).map(([name, value]) =>
    indented(`${JSON.stringify(name)}: ${valueJson(decimals, name, value, 2)}`),
  )
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`
}

function decimalsOf(fields: readonly Field[]): ReadonlySet<string> {
  return new Set(fields.filter(({ type }) => type === 'decimal').map(({ name }) => name))
}

function valueJson(
  decimals: ReadonlySet<string>,
  name: string,
  value: Row[string] | undefined,
  indent = 0,
): string {
  return typeof value === 'string' && decimals.has(name) ? value : JSON.stringify(value, null, indent)
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
