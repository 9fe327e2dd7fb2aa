import { queryOptions } from '@tanstack/react-query'
import type { Position } from '../lib/changes/positions.ts'
import { collections } from './catalog.ts'
import { sendManage } from './manage.ts'
import type { Row } from './read.ts'

/** The change feed, and the records in the order of their last change. */

export type ResourceName = 'product' | 'partner' | 'company'

export interface FeedChange {
  readonly change: 'created' | 'updated' | 'deleted' | 'removed'
  readonly id: number
}

export interface Feed {
  readonly data: readonly FeedChange[]
  readonly meta: { readonly count: number; readonly more: boolean }
  readonly cursor: string
}

interface FeedOptions {
  /** A cursor, or `now`. */
  readonly since: string
  readonly filter?: string | undefined
  readonly limit?: number
  readonly signal?: AbortSignal | undefined
}

export async function readFeed(resource: ResourceName, options: FeedOptions): Promise<Feed> {
  const { since, filter, limit, signal } = options
  const path = `${collections[resource].path}/changes`
  return (await sendManage<Feed>(path, { parameters: { since, filter, fields: 'id', limit }, signal })).body
}

/** Pages of the feed that are read at most to find the deletions. */
const deletionPagesMax = 20
const deletionPage = 1_000

export interface Deletions {
  /** Newest first. */
  readonly ids: readonly number[]
  /** False: more changes follow than were read. */
  readonly isComplete: boolean
}

/** The records that were deleted after a position of the feed, and are not there again. */
export function deletionsQuery(resource: ResourceName, position: Position | undefined) {
  return queryOptions({
    queryKey: ['deletions', resource, position?.cursor],
    enabled: position !== undefined,
    queryFn: async ({ signal }): Promise<Deletions> => {
      const deleted = new Set<number>()
      let since = position?.cursor ?? 'now'
      for (let page = 1; page <= deletionPagesMax; page++) {
        const { data, meta, cursor } = await readFeed(resource, { since, limit: deletionPage, signal })
        for (const { change, id } of data) {
          deleted.delete(id)
          if (change === 'deleted') deleted.add(id)
        }
        since = cursor
        if (!meta.more) return { ids: [...deleted].toReversed(), isComplete: true }
      }
      return { ids: [...deleted].toReversed(), isComplete: false }
    },
  })
}

export interface ChangedList {
  readonly data: readonly Row[]
  readonly meta: { readonly total: number }
  readonly pagination: { readonly nextPage: number | null }
}

/** The records that were changed since a time, the last one first. */
export async function readChanged(
  resource: ResourceName,
  since: string,
  page: number,
  signal: AbortSignal,
): Promise<ChangedList> {
  const parameters = {
    filter: `write_date>=${since}`,
    fields: 'id,name,create_date,write_date',
    sort: '-write_date',
    limit: 50,
    page,
  }
  return (await sendManage<ChangedList>(collections[resource].path, { parameters, signal })).body
}
