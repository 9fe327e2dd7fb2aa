import { type ErrorCode, errorTitles, type Failure } from '../errors/errors.ts'

/** The HTTP status of every error code. */
export const statusOf: Record<ErrorCode, number> = {
  request_invalid: 400,
  body_invalid: 400,
  rows_rejected: 400,
  unauthenticated: 401,
  scope_missing: 403,
  path_unknown: 404,
  record_unknown: 404,
  method_not_allowed: 405,
  precondition_failed: 412,
  media_type_unsupported: 415,
  body_too_large: 413,
  url_too_long: 414,
  expectation_failed: 417,
  headers_too_large: 431,
  idempotency_key_required: 400,
  idempotency_conflict: 409,
  idempotency_mismatch: 422,
  adjustment_impossible: 409,
  key_already_created: 409,
  key_not_active: 409,
  keys_exhausted: 409,
  records_exhausted: 409,
  idempotency_exhausted: 429,
  audit_exhausted: 409,
  key_taken: 409,
  key_unknown: 404,
  key_not_ready: 409,
  values_not_unique: 409,
  account_unknown: 404,
  account_exists: 409,
  account_name_retired: 409,
  account_deleting: 409,
  field_exists: 409,
  fields_exhausted: 409,
  webhooks_exhausted: 409,
  webhook_unverified: 409,
  webhooks_unavailable: 501,
  account_rate_exceeded: 429,
  key_rate_exceeded: 429,
  account_busy: 429,
  // Only logged. The same number as in nginx.
  client_disconnected: 499,
  export_limit: 429,
  feed_limit: 429,
  cursor_expired: 410,
  overloaded: 503,
  database_unavailable: 503,
  // Only logged: the connection is closed.
  shutting_down: 503,
  outcome_unknown: 503,
  deadline_exceeded: 504,
  total_pending: 504,
  internal: 500,
}

export const problemMediaType = 'application/problem+json; charset=utf-8'

/** Seconds after which a client should retry, sent as Retry-After. */
export const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  account_busy: 1,
  export_limit: 10,
  feed_limit: 10,
  overloaded: 1,
  database_unavailable: 2,
  outcome_unknown: 2,
  idempotency_conflict: 1,
  key_not_ready: 10,
  total_pending: 5,
  // Results are stored for a day. An hour frees some of them.
  idempotency_exhausted: 3_600,
}

/** A problem document (RFC 9457). */
export function problemBody(failure: Failure, requestId: string): string {
  return JSON.stringify({
    type: `/reference/errors/${failure.code}`,
    title: errorTitles[failure.code],
    status: statusOf[failure.code],
    detail: failure.message,
    code: failure.code,
    request_id: requestId,
    ...(failure.faults.length > 0 ? { errors: failure.faults } : {}),
  })
}
