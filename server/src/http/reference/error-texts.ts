import type { ErrorCode } from '../../errors.ts'

/** What a code means and what to do about it, for the page that the `type` of an error leads to. */
export interface ErrorText {
  readonly when: string
  readonly remedy: string
}

export const errorTexts: Record<ErrorCode, ErrorText> = {
  request_invalid: {
    when: 'A query parameter, a filter or a header is not understood. Nothing is ever left out or corrected silently.',
    remedy:
      'Look at errors: each entry says which parameter it is about, where in it (offset and length count UTF-16 code units of the decoded text), what was expected there, and, as suggestion, how the whole could be written. Show a suggestion to a person; do not send it unseen.',
  },
  body_invalid: {
    when: 'The body is not what this path takes: another Content-Type or charset, no JSON object, a member that is missing, unknown or of another type; or a GET has a body.',
    remedy: 'Correct the body. errors has the place of each fault as a JSON pointer.',
  },
  unauthenticated: {
    when: 'There is no valid API key of this account: no Authorization header, a malformed one, a key that is unknown, expired or revoked or belongs to another account, or a host that is no account. The answer is the same for all of them.',
    remedy:
      "Send 'Authorization: Bearer <key>' to the account's own host. If you do, ask whoever runs the service whether the key still holds.",
  },
  scope_missing: {
    when: 'The key is valid, but was not given the scope that this request needs; detail names it.',
    remedy: 'Ask for a key with that scope. Sending the request again will not help.',
  },
  path_unknown: {
    when: 'There is nothing at this path.',
    remedy: 'Compare the path with the reference. It begins with /api/v1/.',
  },
  record_unknown: {
    when: 'The account has no record with this id. Ids are positive integers; anything else is no id of a record either.',
    remedy: 'If the record was there before, it has been deleted. Ids are never used again.',
  },
  method_not_allowed: {
    when: 'The path is there, but does not take this method.',
    remedy: 'The header Allow has the methods that it takes.',
  },
  media_type_unsupported: {
    when: 'The body of a QUERY is not application/x-www-form-urlencoded in UTF-8, or a body is compressed.',
    remedy:
      'Send the parameters as in a URL, with that Content-Type, without another charset and without a Content-Encoding.',
  },
  body_too_large: {
    when: 'The body is larger than the path takes: 64 KB to create, 256 KB for QUERY.',
    remedy: 'Split the request. A filter may have 64 KB and 1,000 list values.',
  },
  url_too_long: {
    when: 'The URL is longer than 16 KB.',
    remedy: 'Send the same parameters in the body of a QUERY request.',
  },
  expectation_failed: {
    when: 'The request has an Expect header with something else than 100-continue.',
    remedy: 'Leave the header out.',
  },
  headers_too_large: {
    when: 'The request line and the headers are longer than 32 KB together.',
    remedy: 'Send fewer or shorter headers; a long filter goes by QUERY.',
  },
  idempotency_conflict: {
    when: 'A request with the same Idempotency-Key is still running.',
    remedy: 'Wait for the seconds in Retry-After and send it again: you then get the answer of the first.',
  },
  idempotency_mismatch: {
    when: 'This Idempotency-Key was used for another body within the last 24 hours. Nothing was created.',
    remedy: 'Use a new key for each new record, and the same key only to send the very same request again.',
  },
  key_already_created: {
    when: 'This Idempotency-Key made a key before. A key is shown once, so it cannot be shown again; detail has its id.',
    remedy: 'If the first answer was lost, revoke that key and make another with a new Idempotency-Key.',
  },
  key_not_active: {
    when: 'The key that is to be rotated is rotating already, expired or revoked.',
    remedy: 'Look at its state. Make a new key where you need one.',
  },
  keys_exhausted: {
    when: 'The account has as many valid keys as it may have, which is 1,000.',
    remedy: 'Revoke those that nobody uses: last_used_on says when each was used last.',
  },
  account_rate_exceeded: {
    when: 'The account has sent all requests that it may send in a minute. RateLimit-Policy says how many that are.',
    remedy:
      'Wait for the seconds in Retry-After. Spread the requests over the minute; RateLimit on every answer says how many are left.',
  },
  key_rate_exceeded: {
    when: 'This key has sent all requests that it may send in a minute; the account may have some left for its other keys.',
    remedy:
      'Wait for the seconds in Retry-After. Spread the requests over the minute; RateLimit on every answer says how many are left.',
  },
  account_busy: {
    when: 'The account has as many long queries running as it may, or as many writes, and more waiting behind them. A write that is refused so has written nothing.',
    remedy: 'Wait for the seconds in Retry-After, and send fewer at once.',
  },
  client_disconnected: {
    when: 'The client closed the connection before it was answered, so no client ever sees this; the log has it.',
    remedy: 'Give the client more time, or the request less to do.',
  },
  shutting_down: {
    when: 'The service shut down before it had answered: the connection was closed, so no client ever sees this; the log has it.',
    remedy:
      'Send the request again: another process answers it. A create that was sent with an Idempotency-Key happens once.',
  },
  export_limit: {
    when: 'The account has as many exports running as it may: two in each process, or one if the last free slot is left for other accounts.',
    remedy: 'Wait for one of them to end. Retry-After says when to look again.',
  },
  overloaded: {
    when: 'The service has more work than it can take on now. Nothing was written.',
    remedy: 'Wait for the seconds in Retry-After, a little longer each time, and send it again.',
  },
  database_unavailable: {
    when: 'The database cannot be reached, is changing over to another server, or is being restored. Nothing was written.',
    remedy: 'Wait for the seconds in Retry-After, a little longer each time, and send it again.',
  },
  outcome_unknown: {
    when: 'The connection to the database broke while the write was being kept: it may have been kept or not.',
    remedy:
      'Send it again with the same Idempotency-Key: it is then created exactly once. Without a key, look first whether it is there.',
  },
  deadline_exceeded: {
    when: 'The query took longer than it may, 10 seconds unless the operator has set it otherwise.',
    remedy:
      'Narrow the filter, or ask for fewer records at once. "Contains" is quick with three letters or more.',
  },
  internal: {
    when: 'Something went wrong on our side. It is in the log of the service.',
    remedy: 'Report the request_id to whoever runs the service.',
  },
}
