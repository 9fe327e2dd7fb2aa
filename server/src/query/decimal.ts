import { limits } from '../limits.ts'

const pattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

export function isDecimal(text: string): boolean {
  return text.length <= limits.decimalCharactersMax && pattern.test(text)
}

/** Whether PostgreSQL's numeric can hold it, with room to spare. */
export function isDecimalInRange(text: string): boolean {
  return Math.abs(Number(text.split(/e/i)[1] ?? 0)) <= limits.decimalExponentMax
}

/** Exact: both are brought to whole numbers of the same power of ten. */
export function compareDecimals(a: string, b: string): number {
  const left = scaled(a)
  const right = scaled(b)
  return left < right ? -1 : left > right ? 1 : 0
}

function scaled(text: string): bigint {
  const [mantissa = '0', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const power = Number(exponent) - fraction.length + limits.decimalExponentMax + limits.decimalCharactersMax
  return BigInt(whole + fraction) * 10n ** BigInt(power)
}
