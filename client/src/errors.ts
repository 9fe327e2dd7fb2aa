import { caret } from './caret.ts'
import type { Fault, Problem } from './wire.ts'

/** What is known of an answer that was an error. */
export interface Told {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly requestId?: string | undefined
  readonly faults?: readonly Fault[]
  readonly retryAfterMs?: number | undefined
}

/** Everything that this client throws, but for a TypeError where it is called wrongly, and a signal's own reason. */
export class QuartermasterError extends Error {
  override name = 'QuartermasterError'
  /** For programs: a code of the service, which is never renamed, or one of this client's own. */
  readonly code: string
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number
  /** Names the request in the operator's log. Tell it when you ask for help. */
  readonly requestId: string | undefined

  constructor({ code, status, message, requestId }: Told, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

/** The request is not understood: 400 and its like. Correct it; sending it again changes nothing. */
export class RequestInvalid extends QuartermasterError {
  override name = 'RequestInvalid'
  /** Each thing that is wrong. */
  readonly faults: readonly Fault[]

  constructor(told: Told) {
    super(told)
    this.faults = told.faults ?? []
  }

  /** Where the first fault stands in the filter, or another parameter, as it was sent: UTF-16 code units from 0. */
  get offset(): number | undefined {
    return this.faults[0]?.offset
  }

  get length(): number | undefined {
    return this.faults[0]?.length
  }

  /** The whole parameter, corrected, where that can be told. Show it to a person; do not send it unseen. */
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

/** 404 with the code `record_unknown`: the account has no record with this id. The only error that says so. */
export class NotFound extends QuartermasterError {
  override name = 'NotFound'
}

/** 404 with any other code: the service has nothing at this path. It says nothing about a record. Correct `baseUrl`. */
export class BaseUrlInvalid extends QuartermasterError {
  override name = 'BaseUrlInvalid'

  constructor(told: Told) {
    super({ ...told, message: `${told.message}\nCheck baseUrl: it is the address before /api/v1.` })
  }
}

/** 409 or 422: the idempotency key belongs to another create. */
export class IdempotencyConflict extends QuartermasterError {
  override name = 'IdempotencyConflict'
}

/** What may work later: it was tried again for as long as the client may. */
class Later extends QuartermasterError {
  readonly retryAfterMs: number | undefined

  constructor(told: Told) {
    super(told)
    this.retryAfterMs = told.retryAfterMs
  }
}

/** 429: more requests than the account may send. */
export class RateLimited extends Later {
  override name = 'RateLimited'
}

/** 502 or 503: overloaded, restarting, or without its database. */
export class Unavailable extends Later {
  override name = 'Unavailable'
}

/** 504: the query ran past the service's deadline. Narrow the filter. */
export class QueryTooSlow extends QuartermasterError {
  override name = 'QueryTooSlow'
}

/** 500 and its like: a fault of the service. Report the request id. */
export class ServiceFault extends QuartermasterError {
  override name = 'ServiceFault'
}

/** No answer: the connection is refused or broke (`connection_failed`), no host has this name (`host_unknown`), or TLS fails (`tls_failed`). */
export class ConnectionFailed extends QuartermasterError {
  override name = 'ConnectionFailed'
}

/** No whole answer within `timeoutMs`. */
export class TimedOut extends QuartermasterError {
  override name = 'TimedOut'
}

/** An answer that is not one of the service: something else stands at baseUrl, or in between. */
export class UnexpectedAnswer extends QuartermasterError {
  override name = 'UnexpectedAnswer'
}

/** An export ended before its end mark. What was read of it is not all. */
export class StreamCutShort extends QuartermasterError {
  override name = 'StreamCutShort'
  /** How many records came. */
  readonly count: number

  constructor(told: Told & { readonly count: number }, cause?: unknown) {
    super(told, cause)
    this.count = told.count
  }
}

/** By status, so that a code which the service learns tomorrow has its class today. */
export function errorOf(told: Told): QuartermasterError {
  switch (told.status) {
    case 401:
      return new Unauthenticated(told)
    case 403:
      return new ScopeMissing(told)
    case 404:
      // A sync deletes its copy of what is not found. A wrong address must never look like that.
      return told.code === 'record_unknown' ? new NotFound(told) : new BaseUrlInvalid(told)
    case 409:
    case 422:
      return new IdempotencyConflict(told)
    case 429:
      return new RateLimited(told)
    case 502:
    case 503:
      return new Unavailable(told)
    case 504:
      return new QueryTooSlow(told)
    default:
      return told.status >= 500 ? new ServiceFault(told) : new RequestInvalid(told)
  }
}

/** What the person reads: the sentence, the place with a caret below it, what would be right, and whom to name. */
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
