/**
 * Every error that a client can receive, with its title. Independent of HTTP: `http/problem.ts` maps codes to statuses.
 * Clients switch on the code, so its meaning never changes.
 */
export const errorTitles = {
  request_invalid: 'The request has invalid parameters.',
  body_invalid: 'The request body is not valid.',
  unauthenticated: 'A valid API key is required.',
  scope_missing: 'The API key lacks a scope that this request needs.',
  path_unknown: 'The path does not exist.',
  record_unknown: 'No record has this id.',
  method_not_allowed: 'The path does not support this method.',
  precondition_failed: 'The record has changed since the ETag in If-Match.',
  media_type_unsupported: 'The media type or encoding of the request body is not supported.',
  rows_rejected: 'Too many rows of the batch were rejected.',
  body_too_large: 'The request body is too large.',
  url_too_long: 'The URL is too long.',
  expectation_failed: 'The Expect header cannot be satisfied.',
  headers_too_large: 'The request headers are too large.',
  idempotency_key_required: 'This request needs an Idempotency-Key.',
  idempotency_conflict: 'A request with this Idempotency-Key is still running.',
  idempotency_mismatch: 'This Idempotency-Key was used with another request.',
  adjustment_impossible: 'The result of the adjustment does not fit the field.',
  key_already_created: 'A key was already created with this Idempotency-Key. A key is shown only once.',
  key_not_active: 'Only an active key can be rotated.',
  keys_exhausted: 'The account has reached its limit of valid keys.',
  records_exhausted: 'The account has reached its limit of records.',
  idempotency_exhausted: 'The account has reached its limit of stored results for an Idempotency-Key.',
  audit_exhausted: 'The account has reached its limit of audit entries.',
  key_taken: 'Another record has this value of a unique field.',
  key_unknown: 'The resource does not have this unique field.',
  key_not_ready: 'The unique field is not ready yet.',
  values_not_unique: 'Several records have the same value in the field.',
  account_unknown: 'No account has this name.',
  account_exists: 'There is already an account with this name.',
  account_name_retired: 'The name belonged to an account that was deleted.',
  account_deleting: 'The account is being deleted.',
  field_exists: 'The account has a field with this name.',
  fields_exhausted: 'The account has reached its limit of fields.',
  webhooks_exhausted: 'The account has reached its limit of webhooks.',
  webhook_unverified: "The webhook's receiver has not confirmed that it wants messages.",
  webhooks_unavailable: 'This service is not configured to send webhooks.',
  account_rate_exceeded: 'The account has exceeded its rate limit.',
  key_rate_exceeded: 'The API key has exceeded its rate limit.',
  account_busy: 'The account has too many long queries or writes in flight.',
  client_disconnected: 'The client closed the connection before the response was sent.',
  export_limit: 'The account has too many exports in flight.',
  feed_limit: 'Too many clients wait for changes.',
  cursor_expired: 'The cursor has expired.',
  overloaded: 'The service is overloaded.',
  database_unavailable: 'The database is unavailable.',
  shutting_down: 'The service shut down before the response was sent.',
  outcome_unknown: 'It is unknown whether the write was committed.',
  deadline_exceeded: 'The query exceeded its timeout.',
  total_pending: 'The total or summary is still being counted.',
  internal: 'Internal error.',
} as const

export type ErrorCode = keyof typeof errorTitles

export const errorCodes: readonly ErrorCode[] = Object.keys(errorTitles).filter((code): code is ErrorCode =>
  Object.hasOwn(errorTitles, code),
)

/** The code of one fault in a request. */
export type FaultCode =
  | 'parameter_unknown'
  | 'parameter_repeated'
  | 'parameter_encoding'
  | 'parameter_not_for_export'
  | 'parameter_not_for_stream'
  | 'page_invalid'
  | 'limit_invalid'
  | 'after_id_invalid'
  | 'max_id_invalid'
  | 'wait_invalid'
  | 'cursor_invalid'
  | 'cursor_mismatch'
  | 'choice_invalid'
  | 'search_invalid'
  | 'sort_invalid'
  | 'field_not_sortable'
  | 'field_unknown'
  | 'field_empty'
  | 'field_not_filterable'
  | 'field_not_for_summary'
  | 'group_unit_invalid'
  | 'summary_too_large'
  | 'groups_too_many'
  | 'operator_not_for_type'
  | 'value_not_for_type'
  | 'value_out_of_range'
  | 'value_null_not_comparable'
  | 'value_empty'
  | 'member_required'
  | 'member_unknown'
  | 'member_invalid'
  | 'value_taken'
  | 'json_invalid'
  | 'content_type_invalid'
  | 'header_invalid'
  | `filter_${string}`

export interface Fault {
  /** The query parameter or header that is wrong, or … */
  readonly parameter?: string
  /** … a JSON pointer to the wrong part of the body. */
  readonly pointer?: string
  readonly code: FaultCode
  readonly message: string
  /** Position in the decoded parameter, in UTF-16 code units. */
  readonly offset?: number
  readonly length?: number
  readonly expected?: readonly string[]
  readonly suggestion?: string
  /** The id of the record that has the value. */
  readonly record?: number
}

/** An error that becomes a response. Anything else that is thrown becomes `internal`. */
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

/** The error of a request with one fault. `Faults` collects several. */
export function invalid(fault: Fault, code: 'request_invalid' | 'body_invalid' = 'request_invalid'): Failure {
  return new Failure(code, fault.message, [fault])
}

export function pathUnknown(): Failure {
  return new Failure('path_unknown', 'The path does not exist. All paths are listed in /openapi.json.')
}

export function recordUnknown(noun: string, id: string): Failure {
  return new Failure('record_unknown', `There is no ${noun} with the id ${JSON.stringify(id)}.`)
}

export function accountUnknown(name: string): Failure {
  return new Failure('account_unknown', `There is no account named ${name}.`)
}

export function keyValueUnknown(noun: string, field: string, value: string): Failure {
  return new Failure('record_unknown', `There is no ${noun} whose ${field} is ${JSON.stringify(value)}.`)
}

/** Only logged: the client is no longer connected. */
export function clientDisconnected(cause?: unknown): Failure {
  return new Failure(
    'client_disconnected',
    'The client disconnected before the response was sent.',
    [],
    cause,
  )
}

export function overloaded(): Failure {
  return new Failure('overloaded', 'The service is overloaded. Retry after the time in Retry-After.')
}

/** The same for every cause, so that a response reveals nothing to an attacker. */
export function unauthenticated(): Failure {
  return new Failure(
    'unauthenticated',
    "Send a valid API key of this account as 'Authorization: Bearer <key>' to the account's own host.",
  )
}

/** A defect. The cause is logged, never sent. */
export function internalError(cause?: unknown): Failure {
  return new Failure(
    'internal',
    "Internal error. The operator's log has the cause under this request_id.",
    [],
    cause,
  )
}
