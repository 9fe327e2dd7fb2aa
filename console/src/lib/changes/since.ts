import type { CollectionName } from '../../api/catalog.ts'
import { t } from '../../texts/texts.ts'
import { grouped } from '../format.ts'
import type { Search } from '../search.ts'

/** The parameters of the page with changes. */
export interface ChangesSearch extends Search {
  readonly resource?: string | undefined
  /** One of `sinceChoices`, or a time. */
  readonly since?: string | undefined
}

export const sinceChoices = ['hour', 'today', 'yesterday', 'week', 'month'] as const

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

/** The beginning of a choice as ISO time. Days begin at midnight of this browser's time zone. Undefined: not a time. */
export function sinceTime(since: string, nowMs: number): string | undefined {
  const midnight = new Date(nowMs)
  midnight.setHours(0, 0, 0, 0)
  if (since === 'hour') return isoTime(nowMs - hourMs)
  if (since === 'today') return isoTime(midnight.getTime())
  if (since === 'yesterday') {
    midnight.setDate(midnight.getDate() - 1)
    return isoTime(midnight.getTime())
  }
  if (since === 'week') return isoTime(nowMs - 7 * dayMs)
  if (since === 'month') return isoTime(nowMs - 30 * dayMs)
  const ms = Date.parse(since)
  return Number.isNaN(ms) ? undefined : isoTime(ms)
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** "1 product", "3 products" */
export function countText(count: number, name: CollectionName): string {
  const { one, many } = t.nouns[name]
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** "3 changes", "100 or more changes" */
export function changesText(count: number, more: boolean): string {
  return t.list.changes(count, more)
}
