import { inDays } from '../time.ts'

/** When a new key expires: a number of days, on a date, or never. */
export const expiryChoices = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'date', label: 'On a date' },
  { value: 'never', label: 'Never' },
] as const

/** The `expires_at` of a choice. A date is sent as typed: the service validates it. */
export function expiryOf(choice: string, date: string, nowMs: number): string | null {
  if (choice === 'never') return null
  return choice === 'date' ? date : inDays(Number(choice), nowMs)
}

export const overlapChoices = [
  { value: '0', label: 'None: revoke the old key now' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
] as const
