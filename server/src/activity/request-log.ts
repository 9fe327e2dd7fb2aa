import { withoutKeys } from '../accounts/key-format.ts'
import { newEntryId } from '../entry-id.ts'
import { Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import type { Source } from '../observability/events.ts'
import { decodeForDisplay, parseParameters, truncateEncoded } from '../query/parameters.ts'
import { join, type Statement, sql, value } from '../sql.ts'
import type { AuthenticatedRequest } from './authenticated-request.ts'

interface QueuedRequest {
  readonly atMs: number
  readonly event: AuthenticatedRequest
}

/**
 * A queue of requests to be logged. Its length is limited, in total and for each account, so that a busy account does not
 * displace the requests of others. Half of an account's share is reserved for failed requests, which are looked up most.
 */
export class RequestLog {
  readonly #queue: QueuedRequest[] = []
  #characters = 0
  readonly #accountCounts = new Map<string, number>()

  /** False if the queue is full. */
  offer(atMs: number, event: AuthenticatedRequest): boolean {
    const { accountId } = event.access
    const count = this.#accountCounts.get(accountId) ?? 0
    const countMax = limits.requestLogWaitingAccountRows / (event.status < 400 ? 2 : 1)
    if (count >= countMax || this.#queue.length >= limits.requestLogWaitingRows) return false
    const characters = this.#characters + charactersOf(event)
    if (characters > limits.requestLogWaitingCharacters) return false
    this.#characters = characters
    this.#accountCounts.set(accountId, count + 1)
    this.#queue.push({ atMs, event })
    return true
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** Limited by rows and by characters to decode, because this blocks the event loop. At least one row. */
  #rowsForOneStatement(): number {
    let [rows, characters] = [0, 0]
    for (const { event } of this.#queue) {
      characters += Math.min(charactersOf(event), limits.requestLogReadCharacters)
      if (rows > 0 && (rows >= limits.activityWriteRows || characters > limits.activityWriteCharacters)) break
      rows++
    }
    return rows
  }

  /** Removes and returns the oldest requests. */
  take(): readonly QueuedRequest[] {
    const requests = this.#queue.splice(0, this.#rowsForOneStatement())
    for (const { event } of requests) {
      const { accountId } = event.access
      const left = (this.#accountCounts.get(accountId) ?? 0) - 1
      if (left > 0) this.#accountCounts.set(accountId, left)
      else this.#accountCounts.delete(accountId)
      this.#characters -= charactersOf(event)
    }
    return requests
  }
}

function charactersOf({ url, context }: AuthenticatedRequest): number {
  return url.length + (context?.form?.length ?? 0)
}

const columns = ['at', 'request_id', 'key_id', 'method', 'path', 'query', 'filter'] as const

/** Idempotent: entries that are in the table already are skipped by their ids. */
export function insertRequestsStatement(requests: readonly QueuedRequest[]): Statement {
  const rows = requests.map(rowOf)
  const texts = (name: (typeof columns)[number]) => value(rows.map((row) => row[name]))
  const events = requests.map(({ event }) => event)
  return {
    execution: 'generic',
    ...sql`insert into request (account_id, id, at, request_id, key_id, method, path, query, filter, status, error_code,
  error_detail, duration_ms, records, bytes, cached)
select * from unnest(${value(events.map(({ access }) => access.accountId))}::bigint[],
  ${value(requests.map(({ atMs }) => newEntryId(atMs)))}::text[], ${texts('at')}::timestamptz[],
  ${texts('request_id')}::text[], ${texts('key_id')}::text[], ${texts('method')}::text[], ${texts('path')}::text[],
  ${texts('query')}::text[], ${texts('filter')}::text[], ${value(events.map(({ status }) => status))}::int[],
  ${value(events.map(({ context }) => context?.code ?? null))}::text[],
  ${value(events.map(({ context }) => stored(context?.detail)))}::text[],
  ${value(events.map(({ ms }) => ms))}::numeric[], ${value(events.map(({ context }) => context?.records ?? 0))}::int[],
  ${value(events.map(({ bytes }) => bytes))}::bigint[],
  ${value(events.map(({ context }) => isCached(context?.source)))}::boolean[])
on conflict (account_id, at, id) do nothing`.statement('activity'),
  }
}

/** The same for requests of one account, as Citus inserts them at a fifth of the cost: without a select, it has nothing to plan. */
export function insertRequestsOfAccount(requests: readonly QueuedRequest[]): Statement {
  const rows = requests.map((request) => {
    const { atMs, event } = request
    const { at, request_id, key_id, method, path, query, filter } = rowOf(request)
    const { context, access, status, ms, bytes } = event
    return sql`(${value(access.accountId)}::bigint, ${value(newEntryId(atMs))}::text, ${value(at)}::timestamptz, ${value(request_id)}::text,
  ${value(key_id)}::text, ${value(method)}::text, ${value(path)}::text, ${value(query)}::text, ${value(filter)}::text, ${value(status)}::int,
  ${value(context?.code ?? null)}::text, ${value(stored(context?.detail))}::text, ${value(ms)}::numeric, ${value(context?.records ?? 0)}::int,
  ${value(bytes)}::bigint, ${value(isCached(context?.source))}::boolean)`
  })
  return sql`insert into request (account_id, id, at, request_id, key_id, method, path, query, filter, status, error_code,
  error_detail, duration_ms, records, bytes, cached) values ${join(rows, ', ')}
on conflict (account_id, at, id) do nothing`.statement('activity')
}

/** A response joined to the read of another request does not count as cached: it was read from the database. */
function isCached(source: Source | undefined): boolean {
  return source === 'cached' || source === 'unchanged'
}

function rowOf({ atMs, event }: QueuedRequest): Record<(typeof columns)[number], string | null> {
  const [path, raw] = splitOnce(event.url, '?')
  const parameters = parseParameters(
    truncateEncoded(event.context?.form ?? raw, limits.requestLogReadCharacters),
    ['fields', 'filter', 'after_id', 'max_id', 'page', 'limit', 'per'],
    new Faults(),
  )
  const others = [...parameters].filter(([name]) => name !== 'filter')
  return {
    at: new Date(atMs).toISOString(),
    request_id: stored(event.requestId),
    key_id: event.access.keyId,
    method: event.method,
    path: stored(decodeForDisplay(path)),
    query: others.length === 0 ? null : stored(others.map((pair) => pair.join('=')).join('&')),
    filter: stored(parameters.get('filter')),
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const index = text.indexOf(separator)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)]
}

/** Redacts API keys, truncates, and replaces characters that PostgreSQL cannot store. */
function stored(text: string): string
function stored(text: string | undefined): string | null
function stored(text: string | undefined): string | null {
  if (text === undefined) return null
  return withoutKeys(text)
    .slice(0, limits.requestLogTextCharacters)
    .toWellFormed()
    .replaceAll('\0', '\u{fffd}')
}
