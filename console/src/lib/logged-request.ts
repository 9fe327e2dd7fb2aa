import { type CollectionName, collections } from '../api/catalog.ts'
import type { Row } from '../api/read.ts'
import { bytesText, grouped } from './format.ts'

/** What the request log tells about one request. */

const pages: readonly (readonly [CollectionName, string])[] = [
  ['product', '/products'],
  ['partner', '/partners'],
  ['company', '/companies'],
]

/** The page that shows the list or record of a logged request; undefined if there is none. */
export function browseTarget(
  row: Row,
): { readonly to: string; readonly search: Record<string, string> } | undefined {
  const path = String(row['path'] ?? '')
  for (const [name, to] of pages) {
    const base = collections[name].path
    if (path !== base && !path.startsWith(`${base}/`)) continue
    const search: Record<string, string> = {}
    for (const part of String(row['query'] ?? '').split('&')) {
      const [key = '', ...value] = part.split('=')
      if (['fields', 'page', 'limit'].includes(key)) search[key] = value.join('=')
    }
    if (typeof row['filter'] === 'string') search['filter'] = row['filter']
    const id = path.slice(base.length + 1)
    if (id !== '') search['record'] = id
    return { to, search }
  }
  return undefined
}

/** Milliseconds from which a request counts as slow: a person notices it. */
const slowMs = 100

/** Why the request took as long as it did, from what is logged. */
export function explanation(row: Row): readonly string[] {
  const ms = Number(row['duration_ms'])
  const status = Number(row['status'])
  const lines: string[] = []
  if (status >= 400)
    lines.push(
      `Rejected with ${status} ${String(row['error_code'] ?? '')}: ${String(row['error_detail'] ?? '')}`,
    )
  if (row['cached'] === true) {
    lines.push(
      `Took ${ms} ms. Nothing was read: the response was cached, or the client's copy was current (304).`,
    )
    return lines
  }
  if (status < 400) {
    const records = Number(row['records'])
    lines.push(`Took ${ms} ms to read ${grouped(records)} records, ${bytesText(Number(row['bytes']))}.`)
    lines.push(...causes(row, ms, records))
  }
  return lines
}

function causes(row: Row, ms: number, records: number): string[] {
  if (ms < slowMs) return [`This is not slow: requests below ${slowMs} ms are usual.`]
  const found: string[] = []
  const filter = row['filter']
  if (typeof filter === 'string') {
    found.push(
      'It has a filter, and nobody had requested the same one since the data last changed: the matches had to be counted.',
    )
    if (filter.includes('*'))
      found.push('It searches within texts (*). A longer search text finds fewer candidates.')
  }
  const page = Number(/(?:^|&)page=(\d+)/.exec(String(row['query'] ?? ''))?.[1] ?? 1)
  if (page > 100)
    found.push(`It requests page ${grouped(page)}. To read everything, page with after_id, or use an export.`)
  if (records > 250) found.push('It has many records. Request fewer fields or a smaller limit.')
  found.push('Other queries of the account may have run at the same time: 2 long ones run, and more wait.')
  return found
}
