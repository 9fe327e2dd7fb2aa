/**
 * Everything that can go wrong for a caller, as one closed table. Nothing here knows HTTP: `http/problem.ts` gives
 * each code its status, once. A code is never renamed nor given another meaning; callers switch on it.
 */
export const errorTitles = {
  request_invalid: 'The request has invalid parameters.',
  body_invalid: 'The request body is not valid.',
  unauthenticated: 'A valid API key is required.',
  scope_missing: 'The API key lacks a scope that this request needs.',
  path_unknown: 'There is nothing at this path.',
  record_unknown: 'There is no record with this id.',
  method_not_allowed: 'This path does not take this method.',
  media_type_unsupported: 'The request body has a media type that this path does not take.',
  body_too_large: 'The request body is too large.',
  url_too_long: 'The URL is too long.',
  expectation_failed: 'An expectation of the request cannot be met.',
  headers_too_large: 'The request headers are too large.',
  idempotency_conflict: 'A request with this Idempotency-Key is still running.',
  idempotency_mismatch: 'This Idempotency-Key was used with another request body.',
  key_already_created: 'A key was made by this Idempotency-Key before, and is shown only once.',
  key_not_active: 'Only an active key can be rotated.',
  keys_exhausted: 'The account has as many keys as it may have.',
  account_rate_exceeded: 'The account has sent all requests that it may send in a minute.',
  key_rate_exceeded: 'The API key has sent all requests that it may send in a minute.',
  account_busy: 'The account has as many long queries or writes under way as it may.',
  client_disconnected: 'The client closed the connection before it was answered.',
  export_limit: 'This account has as many exports under way as it may.',
  overloaded: 'The service has more work than it can take on now.',
  database_unavailable: 'The database cannot be reached.',
  shutting_down: 'The service shut down before it had answered.',
  outcome_unknown: 'It is not known whether the write was kept.',
  deadline_exceeded: 'The query took longer than it may.',
  internal: 'Something went wrong on our side.',
} as const

export type ErrorCode = keyof typeof errorTitles

export const errorCodes: readonly ErrorCode[] = Object.keys(errorTitles).filter((code): code is ErrorCode =>
  Object.hasOwn(errorTitles, code),
)

/** What exactly is wrong with one part of a request. */
export type FaultCode =
  | 'parameter_unknown'
  | 'parameter_repeated'
  | 'parameter_encoding'
  | 'parameter_not_for_export'
  | 'page_invalid'
  | 'limit_invalid'
  | 'after_id_invalid'
  | 'max_id_invalid'
  | 'choice_invalid'
  | 'field_unknown'
  | 'field_empty'
  | 'operator_not_for_type'
  | 'value_not_for_type'
  | 'value_out_of_range'
  | 'value_null_not_comparable'
  | 'value_empty'
  | 'member_required'
  | 'member_unknown'
  | 'member_invalid'
  | 'json_invalid'
  | 'content_type_invalid'
  | 'header_invalid'
  | `filter_${string}`

export interface Fault {
  /** The query parameter or header at fault, or … */
  readonly parameter?: string
  /** … the JSON pointer into the body. */
  readonly pointer?: string
  readonly code: FaultCode
  readonly message: string
  /** Where in the decoded parameter, in UTF-16 code units. */
  readonly offset?: number
  readonly length?: number
  readonly expected?: readonly string[]
  readonly suggestion?: string
}

/** The one thing that is thrown at a caller. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: ErrorCode
  readonly faults: readonly Fault[]

  constructor(code: ErrorCode, detail: string, faults: readonly Fault[] = [], cause?: unknown) {
    super(detail, { cause })
    this.code = code
    this.faults = faults
  }
}

/** A request that is wrong in one place. `Faults` gathers those of one that is wrong in several. */
export function invalid(fault: Fault, code: 'request_invalid' | 'body_invalid' = 'request_invalid'): Failure {
  return new Failure(code, fault.message, [fault])
}

/** Nobody receives it. */
export function clientDisconnected(cause?: unknown): Failure {
  return new Failure(
    'client_disconnected',
    'The client disconnected before the response was sent.',
    [],
    cause,
  )
}

/** More waits than may wait. */
export function overloaded(): Failure {
  return new Failure('overloaded', 'The service has more work than it can take on now. Try again shortly.')
}
