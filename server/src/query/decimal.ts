import { limits } from '../limits/limits.ts'

const pattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

export function isDecimal(text: string): boolean {
  return text.length <= limits.decimalCharactersMax && pattern.test(text)
}

/** Whether the exponent is within limits, which are well within those of PostgreSQL's numeric. */
export function isDecimalInRange(text: string): boolean {
  return Math.abs(Number(text.split(/e/i)[1] ?? 0)) <= limits.decimalExponentMax
}

/** Exact comparison without BigInt: with exponents within ±1000, BigInts would have thousands of digits. */
export function compareDecimals(a: string, b: string): number {
  const left = normalized(a)
  const right = normalized(b)
  if (left.sign !== right.sign) return left.sign - right.sign
  if (left.order !== right.order) return left.sign * (left.order - right.order)
  return left.sign * (left.digits < right.digits ? -1 : left.digits > right.digits ? 1 : 0)
}

interface Normalized {
  readonly sign: -1 | 0 | 1
  /** The position of the first nonzero digit: 1 for 5, 2 for 50, 0 for 0.5. */
  readonly order: number
  /** The digits from there on, padded to equal length so that they compare as strings. */
  readonly digits: string
}

function normalized(text: string): Normalized {
  const [mantissa = '0', exponent = '0'] = text.toLowerCase().split('e')
  const [integer = '0', fraction = ''] = mantissa.replace('-', '').split('.')
  const all = integer + fraction
  const first = all.search(/[1-9]/)
  if (first < 0) return { sign: 0, order: 0, digits: '' }
  return {
    sign: mantissa.startsWith('-') ? -1 : 1,
    order: integer.length - first + Number(exponent),
    digits: all.slice(first).padEnd(limits.decimalCharactersMax, '0'),
  }
}
