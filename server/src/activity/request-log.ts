import { withoutKeys } from '../accounts/key-format.ts'
import { newEntryId } from '../entry-id.ts'
import { Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import type { AuthenticatedRequest, Source } from '../observability/events.ts'
import { decodeForDisplay, parseParameters, truncateEncoded } from '../query/parameters.ts'
import { aggregates } from '../query/summary-request.ts'
import { type Fragment, identifier, join, placeholder, type Statement, sql } from '../sql.ts'

/** The event is queued as it is; its parameters are decoded when it is written. */
export interface QueuedRequest {
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

/** The columns of the table, and their types. */
export const requestColumns = [
  ['account_id', sql`bigint`],
  ['id', sql`text`],
  ['at', sql`timestamptz`],
  ['request_id', sql`text`],
  ['key_id', sql`text`],
  ['method', sql`text`],
  ['path', sql`text`],
  ['query', sql`text`],
  ['filter', sql`text`],
  ['status', sql`int`],
  ['error_code', sql`text`],
  ['error_detail', sql`text`],
  ['duration_ms', sql`numeric`],
  ['records', sql`int`],
  ['bytes', sql`bigint`],
  ['cached', sql`boolean`],
] as const

type RequestRow = Record<(typeof requestColumns)[number][0], string | number | boolean | null>

/** Idempotent: entries that are in the table already are skipped by their ids. `rows`: VALUES or a select. */
export function insertRows(rows: Fragment): Fragment {
  const names = requestColumns.map(([name]) => identifier(name))
  return sql`insert into request (${join(names, ', ')}) ${rows}
on conflict (account_id, at, id) do nothing`
}

const arrays = requestColumns.map(([, type]) => ({ type, values: placeholder() }))
const insertArrays = insertRows(
  sql`select * from unnest(${join(
    arrays.map(({ type, values }) => sql`${values}::${type}[]`),
    ', ',
  )})`,
).template(
  arrays.map(({ values }) => values),
  'activity',
  'generic',
)

export function insertRequests(requests: readonly QueuedRequest[]): Statement {
  const rows = requests.map(rowOf)
  return insertArrays(requestColumns.map(([name]) => rows.map((row) => row[name])))
}

/** A response joined to the read of another request does not count as cached: it was read from the database. */
function isCached(source: Source | undefined): boolean {
  return source === 'cached' || source === 'unchanged'
}

export function rowOf({ atMs, event }: QueuedRequest): RequestRow {
  const { context } = event
  const [path, raw] = splitOnce(event.url, '?')
  const parameters = parseParameters(
    truncateEncoded(context?.form ?? raw, limits.requestLogReadCharacters),
    ['fields', 'filter', 'after_id', 'max_id', 'page', 'limit', 'per', 'group', ...aggregates],
    new Faults(),
  )
  const others = [...parameters].filter(([name]) => name !== 'filter')
  return {
    account_id: event.access.accountId,
    id: newEntryId(atMs),
    at: new Date(atMs).toISOString(),
    request_id: stored(event.requestId),
    key_id: event.access.keyId,
    method: event.method,
    path: stored(decodeForDisplay(path)),
    query: others.length === 0 ? null : stored(others.map((pair) => pair.join('=')).join('&')),
    filter: stored(parameters.get('filter')),
    status: event.status,
    error_code: context?.code ?? null,
    error_detail: stored(context?.detail),
    duration_ms: event.ms,
    records: context?.records ?? 0,
    bytes: event.bytes,
    cached: isCached(context?.source),
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
