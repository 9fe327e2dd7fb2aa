import { compareDecimals, decimal } from '../filter-proof/decimal.ts'
import { memoize } from '../filter-proof/memoize.ts'
import type { Field, PlainRecord } from '../filter-proof/schema.ts'

/** A reference implementation of `sort`. */
export interface Order {
  readonly field: Field
  readonly isDescending: boolean
}

const decimalOf = memoize(decimal)
const bytesOf = memoize((text: string) => Buffer.from(text))

/** Nulls last in both directions, then the value, then the id; both in the direction of the order. */
export function sorted(records: readonly PlainRecord[], { field, isDescending }: Order): PlainRecord[] {
  const direction = isDescending ? -1 : 1
  return records.toSorted((one, other) => {
    const [a, b] = [one[field.name] ?? null, other[field.name] ?? null]
    if ((a === null) !== (b === null)) return a === null ? 1 : -1
    const byValue = a === null || b === null ? 0 : compare(field, a, b)
    return direction * (byValue === 0 ? Number(one['id']) - Number(other['id']) : byValue)
  })
}

function compare({ type }: Field, a: string | boolean, b: string | boolean): number {
  switch (type) {
    case 'boolean':
      return Number(a) - Number(b)
    case 'integer':
    case 'decimal':
      return compareDecimals(decimalOf(String(a)), decimalOf(String(b)))
    case 'text':
    // Of one form and length, so in the order of time.
    case 'timestamp':
      return Buffer.compare(bytesOf(String(a)), bytesOf(String(b)))
    default:
      return type satisfies never
  }
}
