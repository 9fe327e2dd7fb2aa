/** For an even number of values, the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('no measurements')
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return (low + high) / 2
}

/** The ratios of values that were measured as pairs. */
export function ratiosOf(values: readonly number[], others: readonly number[]): number[] {
  if (values.length !== others.length) throw new Error(`${values.length} values for ${others.length} others`)
  return values.map((value, i) => value / (others[i] ?? Number.NaN))
}

export function medianOfRatios(values: readonly number[], others: readonly number[]): number {
  return median(ratiosOf(values, others))
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** About three significant digits: 21,304, 153, 8.25, 0.74. */
export function short(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The value that `percent` % of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const found = values.toSorted((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1]
  if (found === undefined) throw new Error('no measurements')
  return found
}
