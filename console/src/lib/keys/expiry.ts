import { t } from '../../texts/texts.ts'
import { inDays } from '../time.ts'

/** When a new key expires: a number of days, on a date, or never. */
export const expiryChoices = () =>
  [
    { value: '30', label: t.keys.day30 },
    { value: '90', label: t.keys.day90 },
    { value: '365', label: t.keys.year1 },
    { value: 'date', label: t.keys.onDate },
    { value: 'never', label: t.keys.never },
  ] as const

/** The `expires_at` of a choice. A date is sent as typed: the service validates it. */
export function expiryOf(choice: string, date: string, nowMs: number): string | null {
  if (choice === 'never') return null
  return choice === 'date' ? date : inDays(Number(choice), nowMs)
}

export const overlapChoices = () =>
  [
    { value: '0', label: t.keys.noOverlap },
    { value: '3600', label: t.keys.hour1 },
    { value: '86400', label: t.keys.day1 },
    { value: '604800', label: t.keys.day7 },
    { value: '2592000', label: t.keys.day30 },
  ] as const
