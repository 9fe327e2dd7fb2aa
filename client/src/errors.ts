import { caret } from './caret.ts'
import type { Fault, Problem } from './wire.ts'

/** The content of an error response. */
export interface ErrorDetails {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly requestId?: string | undefined
  readonly faults?: readonly Fault[]
  readonly retryAfterMs?: number | undefined
}

/** The base class of this client's errors. It also throws a TypeError for invalid arguments, and the reason of an aborted signal. */
export class QuartermasterError extends Error {
  override name = 'QuartermasterError'
  /** For programs: an error code of the service, or one of this client. */
  readonly code: string
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** Identifies the request in the operator's log. Include it when you report a problem. */
  readonly requestId: string | undefined

  constructor({ code, status, message, requestId }: ErrorDetails, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

/** 400 and other 4xx without a class of their own: the request is invalid. Correct it; a retry would fail again. */
export class RequestInvalid extends QuartermasterError {
  override name = 'RequestInvalid'
  /** All that is wrong with the request. */
  readonly faults: readonly Fault[]

  constructor(details: ErrorDetails) {
    super(details)
    this.faults = details.faults ?? []
  }

  /** The offset of the first fault in the filter or other parameter, as it was sent: UTF-16 code units from 0. */
  get offset(): number | undefined {
    return this.faults[0]?.offset
  }

  get length(): number | undefined {
    return this.faults[0]?.length
  }

  /** The complete parameter, corrected, if a correction is known. Show it to a person; do not send it unchecked. */
  get suggestion(): string | undefined {
    return this.faults[0]?.suggestion
  }
}

/** 401: no valid key of this account. Check the key and the host. */
export class Unauthenticated extends QuartermasterError {
  override name = 'Unauthenticated'
}

/** 403: the key lacks the scope that this request needs. */
export class ScopeMissing extends QuartermasterError {
  override name = 'ScopeMissing'
}

/** 404 with the code `record_unknown`: the account has no record with this id. No other error means this. */
export class NotFound extends QuartermasterError {
  override name = 'NotFound'
}

/** 404 with any other code: the service has no such path. The record may exist. Correct `baseUrl`. */
export class BaseUrlInvalid extends QuartermasterError {
  override name = 'BaseUrlInvalid'

  constructor(details: ErrorDetails) {
    super({ ...details, message: `${details.message}\nCheck baseUrl: it is the address before /api/v1.` })
  }
}

/** 409: the account is in a state in which this is not possible, such as with too many keys. `code` says what is in the way. */
export class Conflict extends QuartermasterError {
  override name = 'Conflict'
}

/** 409 or 422: the idempotency key was used for another write, or that write is still running. */
export class IdempotencyConflict extends QuartermasterError {
  override name = 'IdempotencyConflict'
}

/** 412: another request has changed the record since the ETag of `ifMatch`. Nothing was written. Read it again. */
export class PreconditionFailed extends QuartermasterError {
  override name = 'PreconditionFailed'
}

/** 410: some changes after this cursor are no longer stored. Start again with a complete copy, as `sync()` does. */
export class CursorExpired extends QuartermasterError {
  override name = 'CursorExpired'
}

/** A failure that may be temporary: the client retried for `retryForMs`. */
export class TemporaryFailure extends QuartermasterError {
  readonly retryAfterMs: number | undefined

  constructor(details: ErrorDetails) {
    super(details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** 429: the account has sent more requests than its rate limit allows. */
export class RateLimited extends TemporaryFailure {
  override name = 'RateLimited'
}

/** 502 or 503: the service is overloaded, restarting, or cannot reach its database. */
export class Unavailable extends TemporaryFailure {
  override name = 'Unavailable'
}

/**
 * 504: the query exceeded the service's timeout. Narrow the filter. With the code `total_pending` the service goes on counting the total
 * or the summary, and the client has retried; try again later.
 */
export class QueryTooSlow extends TemporaryFailure {
  override name = 'QueryTooSlow'
}

/** 500 and other 5xx without a class of their own: a fault of the service. Report the request id. */
export class ServiceFault extends QuartermasterError {
  override name = 'ServiceFault'
}

/** No response: the connection was refused or broke (`connection_failed`), the host name does not exist (`host_unknown`), or TLS failed (`tls_failed`). */
export class ConnectionFailed extends QuartermasterError {
  override name = 'ConnectionFailed'
}

/** No complete response within `timeoutMs`. */
export class TimedOut extends QuartermasterError {
  override name = 'TimedOut'
}

/** The response is not from Quartermaster: another server is at baseUrl, or a proxy responded. */
export class UnexpectedResponse extends QuartermasterError {
  override name = 'UnexpectedResponse'
}

/** An export ended before its end marker: the records that were read are not all. */
export class StreamTruncated extends QuartermasterError {
  override name = 'StreamTruncated'
  /** The number of records received. */
  readonly count: number

  constructor(details: ErrorDetails & { readonly count: number }, cause?: unknown) {
    super(details, cause)
    this.count = details.count
  }
}

/** A request to a receiver of webhooks is not from Quartermaster, was changed, or is too old. Respond with 401. */
export class WebhookInvalid extends QuartermasterError {
  override name = 'WebhookInvalid'
}

/** By status, so that error codes which a later service adds have a class in this version, too. */
export function errorOf(details: ErrorDetails): QuartermasterError {
  switch (details.status) {
    case 401:
      return new Unauthenticated(details)
    case 403:
      return new ScopeMissing(details)
    case 404:
      // A sync deletes its copy of a record that is not found, so a wrong address must never throw NotFound.
      if (details.code === 'record_unknown') return new NotFound(details)
      return details.code === 'key_unknown' ? new RequestInvalid(details) : new BaseUrlInvalid(details)
    case 409:
      return details.code === 'idempotency_conflict'
        ? new IdempotencyConflict(details)
        : new Conflict(details)
    case 422:
      return new IdempotencyConflict(details)
    case 410:
      return new CursorExpired(details)
    case 412:
      return new PreconditionFailed(details)
    case 429:
      return new RateLimited(details)
    case 502:
    case 503:
      return new Unavailable(details)
    case 504:
      return new QueryTooSlow(details)
    default:
      return details.status >= 500 ? new ServiceFault(details) : new RequestInvalid(details)
  }
}

/** The message for a person: the detail, the text with carets below the wrong part, a correction, and the request id. */
export function messageOf(problem: Problem, parameters: Readonly<Record<string, string>>): string {
  const lines = [problem.detail]
  const fault = problem.errors?.[0]
  const text = fault?.parameter === undefined ? undefined : parameters[fault.parameter]
  if (text !== undefined && fault?.offset !== undefined) {
    lines.push(caret(text, fault.offset, fault.length ?? 1))
    if (fault.suggestion !== undefined) lines.push(`Suggestion: ${fault.suggestion}`)
  }
  return [...lines, `(${problem.code}, request ${problem.request_id})`].join('\n')
}
