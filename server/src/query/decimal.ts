import { limits } from '../limits.ts'

const pattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

export function isDecimal(text: string): boolean {
  return text.length <= limits.decimalCharactersMax && pattern.test(text)
}

/** Whether PostgreSQL's numeric can hold it, with room to spare. */
export function isDecimalInRange(text: string): boolean {
  return Math.abs(Number(text.split(/e/i)[1] ?? 0)) <= limits.decimalExponentMax
}

/** Exact, and without big integers: with exponents within ±1000 those would have thousands of digits. */
export function compareDecimals(a: string, b: string): number {
  const left = normalized(a)
  const right = normalized(b)
  if (left.sign !== right.sign) return left.sign - right.sign
  if (left.order !== right.order) return left.sign * (left.order - right.order)
  return left.sign * (left.digits < right.digits ? -1 : left.digits > right.digits ? 1 : 0)
}

interface Normalized {
  readonly sign: -1 | 0 | 1
  /** Of the first digit that is not zero: 1 in 5, 2 in 50, 0 in 0.5. */
  readonly order: number
  /** From that digit on, all texts of the same length. */
  readonly digits: string
}

function normalized(text: string): Normalized {
  const [mantissa = '0', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '0', fraction = ''] = mantissa.replace('-', '').split('.')
  const all = whole + fraction
  const first = all.search(/[1-9]/)
  if (first < 0) return { sign: 0, order: 0, digits: '' }
  return {
    sign: mantissa.startsWith('-') ? -1 : 1,
    order: whole.length - first + Number(exponent),
    digits: all.slice(first).padEnd(limits.decimalCharactersMax, '0'),
  }
}
