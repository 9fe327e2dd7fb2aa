import { hash } from 'node:crypto'

/** The types of fields of the service. */
export type Kind = 'text' | 'integer' | 'decimal' | 'boolean' | 'timestamp'
export type Value = string | number | boolean | null
/** What the source calls a record: an Odoo id, a SKU, a GUID. It never names another record later. */
export type Key = string | number

export interface Field {
  readonly name: string
  readonly kind: Kind
}

/** A record of the source, as it will be here. */
export interface SourceRow {
  readonly key: Key
  /** When the source last changed it, and when it created it, in seconds of the source's clock. */
  readonly changedAt: number
  readonly bornAt: number
  /** Whether the connector's user has created it: it may have been born here. */
  readonly isByUs?: boolean
  readonly values: Readonly<Record<string, Value>>
}

/** One form for each value, whatever form the source and the service use. */
function canonical(kind: Kind, value: unknown): Value {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'decimal':
      return decimalText(typeof value === 'number' ? value : textOf(value))
    case 'timestamp':
      return Date.parse(textOf(value))
    case 'integer':
      return Number(value)
    case 'boolean':
      return value === true
    case 'text':
      return textOf(value)
    default:
      return kind satisfies never
  }
}

/** Of a text, as it is. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Without trailing zeros. A double is rounded to six digits, because 0.1 + 0.2 is not 0.3 there. */
export function decimalText(value: number | string): string {
  const text = typeof value === 'number' ? value.toFixed(6) : value
  if (!text.includes('.')) return text === '-0' ? '0' : text
  let end = text.length
  while (text[end - 1] === '0') end--
  if (text[end - 1] === '.') end--
  const short = text.slice(0, end)
  return short === '-0' ? '0' : short
}

/**
 * 48 bits of a hash of the values: a million of them fit into memory, where the records would not. Two different contents of one record
 * have the same print with a probability of 2^-48; the rolling sweep would not see that change either, the next change would.
 */
export function printOf(fields: readonly Field[], values: Readonly<Record<string, unknown>>): number {
  const text = JSON.stringify(fields.map(({ name, kind }) => canonical(kind, values[name])))
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 12), 16)
}
