import { fixed } from '../format.ts'

/** 0.0123 → "1.2 %" */
export function percentText(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return `< ${fixed(0.1, 1)} %`
  return `${percent >= 10 || Number.isInteger(percent) ? Math.round(percent) : fixed(percent, 1)} %`
}
