import type { ErrorCode } from '../errors.ts'
import type { AccountScope } from '../scope.ts'
import type { Operation } from '../sql.ts'

export interface RequestAccess extends AccountScope {
  readonly keyId: string
}

/** What handlers know of a request and nobody else: one small object, made by the first who has something to say. */
export interface RequestContext {
  code: ErrorCode | undefined
  detail: string | undefined
  records: number
  /** Where the answer to a read comes from, once that is known. */
  source: Source | undefined
  /** The parameters of a QUERY, which are not in its URL. */
  form: string | undefined
  /** How long the check of the key took. */
  checkMs: number | undefined
  /** The read or write in the database: when it began, by `performance.now()`, and how long it took. */
  storeAt: number | undefined
  storeMs: number | undefined
}

/** Connections for long reads, those that quick statements share, for writes, and for exports. */
export type PoolName = 'reads' | 'pipelined' | 'writes' | 'exports'

/**
 * Everything worth telling, as one union, to which the log, metrics, traces and the accounts' own records subscribe.
 * Each takes what it tells by name: the operator's three have no key, account, path or filter.
 */
export type Event =
  | {
      readonly kind: 'listening'
      readonly host: string
      readonly port: number
      readonly adminPort: number | undefined
    }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'connection-acquired'; readonly pool: PoolName; readonly ms: number }
  | { readonly kind: 'connection-broken'; readonly error: Error }
  /** Another server answers at the database's address; all connections to the one before were closed. */
  | { readonly kind: 'primary-changed'; readonly timeline: string }
  /** Requests are counted together with the other processes; or, without Redis, in this one alone. */
  | { readonly kind: 'rate-limits-shared' }
  | { readonly kind: 'rate-limits-local'; readonly reason: string }
  /** By the process as a whole, for want of room, in the second before. */
  | { readonly kind: 'requests-refused'; readonly count: number }
  /** One statement for all requests that waited for their check. */
  | { readonly kind: 'keys-verified'; readonly keys: number }
  | {
      readonly kind: 'statement-ended'
      readonly operation: Operation | 'commit'
      readonly ms: number
      readonly failed: boolean
    }
  /** What Node's parser refused before it became a request. */
  | { readonly kind: 'request-unreadable'; readonly code: ErrorCode }
  | {
      readonly kind: 'request-failed'
      readonly requestId: string
      readonly code: ErrorCode
      readonly cause: unknown
    }
  /** It was under way, so its status said nothing of it. */
  | {
      readonly kind: 'export-truncated'
      readonly requestId: string
      readonly code: ErrorCode
      readonly cause: unknown
    }
  | RequestAnswered
  /** Missing from their account's request log, and from its usage. */
  | { readonly kind: 'requests-unlogged'; readonly count: number }
  | { readonly kind: 'requests-uncounted'; readonly count: number }
  | { readonly kind: 'activity-unwritten'; readonly error: unknown }
  /** The collector of traces did not take them. */
  | { readonly kind: 'spans-dropped'; readonly spans: number; readonly cause: string }

export interface RequestAnswered {
  readonly kind: 'request-completed'
  readonly requestId: string
  readonly method: string
  /** The pattern of the path, not the path. */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** Where the answer to a read came from. */
  readonly source: Source | undefined
  /** Whose key it was; undefined where none was accepted. */
  readonly access: RequestAccess | undefined
  /** As it was sent. For the account's own log: the operator's has neither filters nor ids. */
  readonly url: string
  readonly bytes: number
  readonly context: RequestContext | undefined
  /** The trace that a trusted proxy began. */
  readonly traceparent: string | undefined
}

/**
 * Cached at the current version, read from the database, taken from a read that another request had under way, or known
 * to the caller already (304).
 */
export const sources = ['cached', 'read', 'joined', 'unchanged'] as const
export type Source = (typeof sources)[number]

export type EmitEvent = (event: Event) => void

export function emitToAll(...subscribers: readonly (EmitEvent | undefined)[]): EmitEvent {
  const all = subscribers.filter((one) => one !== undefined)
  return (event) => {
    for (const emit of all) emit(event)
  }
}
