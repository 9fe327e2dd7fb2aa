import { hash } from 'node:crypto'
import { print } from '@quartermaster/filter'
import type { Resource } from '../catalog/resources.ts'
import { type Fault, invalid } from '../errors/errors.ts'
import { type ChangesRequest, type ListSource, parseChangesRequest } from '../query/list-request.ts'
import { type ListPlan, planList, withAcceptedSuggestions } from '../query/plan.ts'
import type { AccountScope } from '../scope.ts'
import { decodeCursor, encodeCursor, type FeedIdentity, type FeedPosition } from './cursor.ts'

/** Where a client begins: with every record, with the next change, or after a position. */
export type Since = 'beginning' | 'now' | FeedPosition

/** A parsed and planned request for changes. */
export interface ChangesQuery {
  readonly plan: ListPlan
  readonly feed: FeedIdentity
  readonly since: Since
  readonly waitMs: number
  /** Requests with the same hash that begin at the same position have the same response. */
  readonly hash: string
  /** The query string in canonical form, without `since`. */
  readonly parameters: string
  /** The same for the resource with other fields of the account. */
  planFor(resource: Resource): ChangesQuery
}

/**
 * `lastEventId`: the cursor of the last event that a client of a stream received. It replaces `since`, because a client
 * that reconnects sends the first URL again. Undefined if the request is not for a stream.
 */
export function changesQuery(
  scope: AccountScope,
  resource: Resource,
  [raw, source]: readonly [string, ListSource],
  stream?: { readonly lastEventId: string | undefined },
): ChangesQuery {
  const { request, plan } = withAcceptedSuggestions(resource, () => {
    const parsed = parseChangesRequest(raw, source, stream !== undefined)
    return { request: parsed, plan: planList(resource, parsed) }
  })
  const filterKey = request.filter === undefined ? '' : print(request.filter)
  const feed: FeedIdentity = { accountId: scope.accountId, resource: resource.name, filterKey }
  const parameters = parametersOf(request, plan, filterKey)
  const query: ChangesQuery = {
    plan,
    feed,
    planFor: (other) =>
      other.schemaName === resource.schemaName ? query : changesQuery(scope, other, [raw, source], stream),
    since: sinceOf(feed, request.since, stream?.lastEventId),
    waitMs: request.waitSeconds * 1000,
    hash: hash('sha256', `${resource.schemaName} ${parameters}`, 'base64url').slice(0, 16),
    parameters,
  }
  return query
}

/** Identifies the page that begins here, for clients that read it at the same time. */
export function startName({ feed }: ChangesQuery, since: Since): string {
  return typeof since === 'string' ? since : encodeCursor(feed, since)
}

function sinceOf(feed: FeedIdentity, since: string | undefined, lastEventId: string | undefined): Since {
  // A client may send an empty id if the stream broke before its first event.
  if (lastEventId !== undefined && lastEventId !== '') {
    return positionOf(feed, lastEventId, (code, message) => ({
      parameter: 'last-event-id',
      code,
      message: `Last-Event-ID ${message}`,
    }))
  }
  if (since === undefined) return 'beginning'
  if (since === 'now') return 'now'
  return positionOf(feed, since, (code, message) => ({
    parameter: 'since',
    code,
    message: `The parameter since ${message}`,
    expected: ['a cursor', 'now'],
  }))
}

function positionOf(
  feed: FeedIdentity,
  text: string,
  faultOf: (code: Fault['code'], message: string) => Fault,
): FeedPosition {
  const decoded = decodeCursor(feed, text)
  if ('code' in decoded) throw invalid(faultOf(decoded.code, decoded.message))
  return decoded
}

function parametersOf({ limit }: ChangesRequest, { resource, fields }: ListPlan, filterKey: string): string {
  const parts = [`limit=${limit}`]
  if (filterKey !== '') parts.unshift(`filter=${encodeURIComponent(filterKey)}`)
  const names = fields.map(({ name }) => name).join(',')
  if (names !== resource.fields.map(({ name }) => name).join(',')) parts.unshift(`fields=${names}`)
  return parts.join('&')
}
