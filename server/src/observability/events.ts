import type { ErrorCode } from '../errors/errors.ts'
import type { AccountScope } from '../scope.ts'
import type { Operation } from '../sql.ts'

export interface RequestAccess extends AccountScope {
  readonly keyId: string
}

/** What hooks and handlers add to a request for its `request-completed` event. */
export interface RequestContext {
  code: ErrorCode | undefined
  detail: string | undefined
  records: number
  /** How the response to a read was obtained. */
  source: Source | undefined
  /** The parameters of a QUERY, which are not in its URL. */
  form: string | undefined
  /** The verification of the key: when it started, by `performance.now()`, and how long it took. */
  verificationStartedAt: number | undefined
  verificationMs: number | undefined
  /** The same of the read or write in the database. */
  databaseStartedAt: number | undefined
  databaseMs: number | undefined
  /** How long the response waited for changes. This is not part of the duration of the request. */
  waitedMs: number
}

/** `reads`: for statements that may take long. `pipelined`: for short ones, which share connections. `replicas`: long ones there. */
export type PoolName = 'reads' | 'pipelined' | 'writes' | 'exports' | 'batches' | 'replicas'

/**
 * Why the primary answered a long read although there are replicas. `unavailable`: no replica responds, or it has just failed.
 * `busy`: all connections are in use. `behind`: it has not replayed a write that the primary has. `diverged`: its
 * last write is not on the timeline of the primary. `unproven`: the last write was not made by this service, so that servers
 * cannot be compared. `unconfirmed`: the replica has a write that the primary does not show yet. `conflict`: replaying the
 * primary's changes cancelled the statement. `failed`: any other error. `no_feedback`: exports need hot_standby_feedback.
 */
export const fallbackReasons = [
  'unavailable',
  'busy',
  'behind',
  'diverged',
  'unproven',
  'unconfirmed',
  'conflict',
  'failed',
  'no_feedback',
] as const
export type FallbackReason = (typeof fallbackReasons)[number]

/**
 * Every event of the service. The log, metrics, traces and the accounts' own request log subscribe to them. Each subscriber
 * picks members by name, so that no key, account, path or filter gets into the log, metrics or traces of the operator.
 */
export type Event =
  | {
      readonly kind: 'listening'
      readonly host: string
      readonly port: number
      readonly adminPort: number | undefined
      /** The number of worker processes, in the primary of `serve --processes`. */
      readonly workers?: number
    }
  /** A process that only delivers webhooks has started. */
  | { readonly kind: 'delivering'; readonly adminPort: number | undefined }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'stopped' }
  /** A worker process of `serve --processes` has exited on its own, and is replaced after `delayMs`. */
  | {
      readonly kind: 'worker-exited'
      readonly worker: number
      readonly workerPid: number | undefined
      readonly exitCode: number | null
      readonly signal: string | null
      readonly delayMs: number
    }
  /** On SIGHUP: the names of settings that differ from those in use. */
  | {
      readonly kind: 'settings-read'
      readonly changed: readonly string[]
      readonly needRestart: readonly string[]
    }
  | { readonly kind: 'settings-rejected'; readonly faults: readonly string[] }
  /** A rolling restart of all workers, on SIGHUP. */
  | { readonly kind: 'restarting' }
  | { readonly kind: 'restarted'; readonly ms: number }
  | { readonly kind: 'restart-failed'; readonly worker: number; readonly cause: string }
  /** The service manager was not informed. */
  | { readonly kind: 'notify-failed'; readonly cause: string }
  | { readonly kind: 'connection-acquired'; readonly pool: PoolName; readonly ms: number }
  | { readonly kind: 'connection-broken'; readonly error: Error }
  /** Another server is the primary. All connections to the previous one were closed. */
  | { readonly kind: 'primary-changed'; readonly timeline: string }
  /** A replica of DATABASE_REPLICA_URLS responds, or does not. `address`: its host and port. */
  | { readonly kind: 'replica-available'; readonly address: string }
  | { readonly kind: 'replica-unavailable'; readonly address: string; readonly error: unknown }
  /** Which server ran a read that a replica may run. */
  | {
      readonly kind: 'replica-read'
      readonly operation: 'list' | 'export'
      readonly server: 'primary' | 'replica'
      readonly reason: FallbackReason | 'none'
    }
  /** Rate limits are shared by all processes through Redis; or, while Redis is unavailable, counted by each process alone. */
  | { readonly kind: 'rate-limits-shared' }
  | { readonly kind: 'rate-limits-local'; readonly reason: string }
  /** Load shedding: requests rejected in the last second because too many were waiting. */
  | { readonly kind: 'requests-rejected'; readonly count: number }
  /** A statement was sent that verifies the keys of waiting requests. */
  | { readonly kind: 'keys-verified'; readonly keys: number }
  | {
      readonly kind: 'statement-ended'
      readonly operation: Operation | 'commit'
      readonly ms: number
      readonly failed: boolean
    }
  /** A total or a summary is counted after its request could not wait any longer. */
  | { readonly kind: 'background-count-started'; readonly of: 'total' | 'summary' }
  | {
      readonly kind: 'background-count-ended'
      readonly of: 'total' | 'summary'
      readonly ms: number
      readonly failed: boolean
    }
  /** Node's HTTP parser rejected it. */
  | { readonly kind: 'request-unreadable'; readonly code: ErrorCode }
  | {
      readonly kind: 'request-failed'
      readonly requestId: string
      readonly code: ErrorCode
      readonly cause: unknown
    }
  /** An export failed after its status had been sent. */
  | {
      readonly kind: 'export-truncated'
      readonly requestId: string
      readonly code: ErrorCode
      readonly cause: unknown
    }
  | RequestCompleted
  /** Requests missing from their account's request log, or from its usage. */
  | { readonly kind: 'requests-unlogged'; readonly count: number }
  | { readonly kind: 'requests-uncounted'; readonly count: number }
  /** A message was sent to the receiver of a webhook, or could not be sent. */
  | {
      readonly kind: 'webhook-sent'
      readonly outcome: DeliveryOutcome
      readonly changes: number
      readonly ms: number
    }
  /** A webhook was paused or disabled, not by its administrator. */
  | { readonly kind: 'webhook-stopped'; readonly reason: StopReason }
  | { readonly kind: 'webhook-sweep-failed'; readonly error: unknown }
  /** An account whose deletion is due could not be deleted. */
  | { readonly kind: 'deletion-failed'; readonly error: unknown }
  | { readonly kind: 'activity-unwritten'; readonly error: unknown }
  | { readonly kind: 'values-unwritten'; readonly error: unknown }
  /** The trace collector did not accept them. */
  | { readonly kind: 'spans-dropped'; readonly spans: number; readonly cause: string }
  /** The collector did not accept the metrics. They are cumulative: the next ones include these. */
  | { readonly kind: 'metrics-unsent'; readonly cause: string }

/** The members of the metric of background counts. */
export const countSteps = ['started', 'finished', 'failed'] as const

/** `status`: the response was not 2xx. The others: there was no response. */
export const deliveryOutcomes = [
  'delivered',
  'status',
  'url_forbidden',
  'address_forbidden',
  'host_unknown',
  'connection_failed',
  'certificate_invalid',
  'timeout',
  'aborted',
  'secret',
] as const
export type DeliveryOutcome = (typeof deliveryOutcomes)[number]

/** Why a webhook was stopped. */
export const stopReasons = ['requested', 'failing', 'gone', 'cursor_expired', 'query_invalid'] as const
export type StopReason = (typeof stopReasons)[number]

export interface RequestCompleted {
  readonly kind: 'request-completed'
  readonly requestId: string
  readonly method: string
  /** The route's pattern, not the path. */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** How the response to a read was obtained. */
  readonly source: Source | undefined
  /** Undefined if no key was accepted. */
  readonly access: RequestAccess | undefined
  /** As received. For the account's own log only: the operator's log has neither filters nor ids. */
  readonly url: string
  readonly bytes: number
  readonly context: RequestContext | undefined
  /** From a trusted proxy. */
  readonly traceparent: string | undefined
}

/** A request with an accepted key. */
export interface AuthenticatedRequest extends RequestCompleted {
  readonly access: RequestAccess
}

/**
 * `cached`: from the response cache. `read`: from the database. `joined`: from a read that another request had started.
 * `unchanged`: the client has the current version (304).
 */
export const sources = ['cached', 'read', 'joined', 'unchanged'] as const
export type Source = (typeof sources)[number]

export type EmitEvent = (event: Event) => void

export function emitToAll(...subscribers: readonly (EmitEvent | undefined)[]): EmitEvent {
  const all = subscribers.filter((subscriber) => subscriber !== undefined)
  return (event) => {
    for (const emit of all) emit(event)
  }
}
