/** An exact decimal: `digits` × 10^−`scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const jsonNumber = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

export function decimal(text: string): Decimal {
  const parts = jsonNumber.exec(text)
  if (parts === null) throw new Error(`not a number: ${JSON.stringify(text)}`)
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = parts
  const digits = BigInt(`${integer}${fraction}`)
  return { digits: sign === '-' ? -digits : digits, scale: fraction.length - Number(exponent) }
}

/** Below 0, 0 or above 0, as a is less than, equal to or greater than b. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const x = a.digits * 10n ** BigInt(scale - a.scale)
  const y = b.digits * 10n ** BigInt(scale - b.scale)
  return x < y ? -1 : x > y ? 1 : 0
}

/** Plain digits, no exponent, no trailing zeros. */
export function plainDecimal({ digits, scale }: Decimal): string {
  if (scale <= 0) return (digits * 10n ** BigInt(-scale)).toString()
  const negative = digits < 0n
  const all = (negative ? -digits : digits).toString().padStart(scale + 1, '0')
  const fraction = all.slice(-scale).replace(/0+$/, '')
  const plain = `${all.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`
  return negative && plain !== '0' ? `-${plain}` : plain
}
