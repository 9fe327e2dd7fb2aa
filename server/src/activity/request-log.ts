import { withoutKeys } from '../accounts/key-format.ts'
import { newEntryId } from '../entry-id.ts'
import { Faults } from '../faults.ts'
import { limits } from '../limits.ts'
import type { Source } from '../observability/events.ts'
import { decodeForDisplay, parseParameters, truncateEncoded } from '../query/parameters.ts'
import { type Statement, sql, value } from '../sql.ts'
import type { Answered } from './answered.ts'

interface Waiting {
  readonly atMs: number
  readonly event: Answered
}

/**
 * Requests that wait to be logged. There is room for so many, and for one account a part of it, so that a busy account
 * takes none from its neighbours. Half of an account's part is for requests that failed: those are looked for.
 */
export class RequestLog {
  readonly #waiting: Waiting[] = []
  #characters = 0
  readonly #ofAccount = new Map<string, number>()

  /** Whether there was room for it. */
  offer(atMs: number, event: Answered): boolean {
    const { accountId } = event.access
    const count = this.#ofAccount.get(accountId) ?? 0
    const room = limits.requestLogWaitingAccountRows / (event.status < 400 ? 2 : 1)
    if (count >= room || this.#waiting.length >= limits.requestLogWaitingRows) return false
    const characters = this.#characters + charactersOf(event)
    if (characters > limits.requestLogWaitingCharacters) return false
    this.#characters = characters
    this.#ofAccount.set(accountId, count + 1)
    this.#waiting.push({ atMs, event })
    return true
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** By their number and by what has to be read of them: no request is answered meanwhile. At least one. */
  #rowsForOneStatement(): number {
    let [rows, characters] = [0, 0]
    for (const { event } of this.#waiting) {
      characters += Math.min(charactersOf(event), limits.requestLogReadCharacters)
      if (rows > 0 && (rows >= limits.activityWriteRows || characters > limits.activityWriteCharacters)) break
      rows++
    }
    return rows
  }

  /** Those that have waited longest; their room is free again. */
  take(): readonly Waiting[] {
    const taken = this.#waiting.splice(0, this.#rowsForOneStatement())
    for (const { event } of taken) {
      const { accountId } = event.access
      const left = (this.#ofAccount.get(accountId) ?? 0) - 1
      if (left > 0) this.#ofAccount.set(accountId, left)
      else this.#ofAccount.delete(accountId)
      this.#characters -= charactersOf(event)
    }
    return taken
  }
}

function charactersOf({ url, context }: Answered): number {
  return url.length + (context?.form?.length ?? 0)
}

const columns = ['at', 'request_id', 'key_id', 'method', 'path', 'query', 'filter'] as const

/** Sent a second time, it does nothing: its entries have their ids already. */
export function insertRequestsStatement(taken: readonly Waiting[]): Statement {
  const rows = taken.map(rowOf)
  const texts = (name: (typeof columns)[number]) => value(rows.map((row) => row[name]))
  const events = taken.map(({ event }) => event)
  return {
    execution: 'generic',
    ...sql`insert into request (account_id, id, at, request_id, key_id, method, path, query, filter, status, error_code,
  error_detail, duration_ms, records, bytes, cached)
select * from unnest(${value(events.map(({ access }) => access.accountId))}::bigint[],
  ${value(taken.map(({ atMs }) => newEntryId(atMs)))}::text[], ${texts('at')}::timestamptz[],
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

/** A joined read is none: its records were read for several requests at once. */
function isCached(source: Source | undefined): boolean {
  return source === 'cached' || source === 'unchanged'
}

function rowOf({ atMs, event }: Waiting): Record<(typeof columns)[number], string | null> {
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

function splitOnce(text: string, at: string): readonly [string, string] {
  const place = text.indexOf(at)
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + 1)]
}

/** Fit for a column: no key of anybody, no longer than it may be, nothing that PostgreSQL cannot hold. */
function stored(text: string): string
function stored(text: string | undefined): string | null
function stored(text: string | undefined): string | null {
  if (text === undefined) return null
  return withoutKeys(text)
    .slice(0, limits.requestLogTextCharacters)
    .toWellFormed()
    .replaceAll('\0', '\u{fffd}')
}
