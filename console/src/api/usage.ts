import { queryOptions } from '@tanstack/react-query'
import type { ListParameters } from '../lib/records/records-search.ts'
import { type LoggedRead, loggedReadOf, type UsageRow, usageRowOf } from '../lib/usage/usage.ts'
import { fullRange, isoTime, type Per, type Range } from '../lib/usage/usage-range.ts'
import type { CollectionName } from './catalog.ts'
import { type Row, readList } from './read.ts'

/** Pages of 1,000 rows that are read at most. The page says if there are more. */
const usagePagesMax = 20
const readPagesMax = 5

export interface Usage {
  /** The range of the rows. It ends with the minute or day in which they were read. */
  readonly range: Range
  readonly rows: readonly UsageRow[]
  /** Newer rows are read first, so that the oldest are missing if there are more. */
  readonly total: number
}

export function usageQuery(per: Per, rangeMs: number) {
  return queryOptions({
    queryKey: ['usage', per, rangeMs],
    queryFn: async ({ signal }): Promise<Usage> => {
      const range = fullRange(per, rangeMs, Date.now())
      const filter = `at>=${isoTime(range.fromMs)}`
      const { rows, total } = await readPages('usage', { per, filter }, usagePagesMax, signal)
      return { range, rows: rows.map(usageRowOf), total }
    },
  })
}

export interface LoggedReads {
  readonly reads: readonly LoggedRead[]
  /** All reads of the range in the log; `reads` are the newest of them. */
  readonly total: number
}

/**
 * The newest reads of records in the request log. Usage does not count cached responses; the log has them, for up to 14
 * days and 100,000 requests.
 */
export function loggedReadsQuery({ fromMs, toMs }: Range) {
  return queryOptions({
    queryKey: ['logged-reads', fromMs, toMs],
    queryFn: async ({ signal }): Promise<LoggedReads> => {
      const filter = `at>=${isoTime(fromMs)}&at<${isoTime(toMs)}&path*"/api/v1/"&method[GET,QUERY]&status<400`
      const fields = 'at,key_id,method,path,cached'
      const { rows, total } = await readPages('request', { filter, fields }, readPagesMax, signal)
      return { reads: rows.map(loggedReadOf), total }
    },
  })
}

async function readPages(
  name: CollectionName,
  parameters: ListParameters,
  pagesMax: number,
  signal: AbortSignal,
): Promise<{ rows: Row[]; total: number }> {
  const rows: Row[] = []
  let total = 0
  for (let page = 1; page <= pagesMax; page++) {
    const { body } = await readList(name, { ...parameters, page: String(page), limit: '1000' }, signal)
    rows.push(...body.data)
    total = body.meta.total
    if (body.pagination.nextPage === null) break
  }
  return { rows, total }
}
