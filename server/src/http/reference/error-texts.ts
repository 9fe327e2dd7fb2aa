import type { ErrorCode } from '../../errors/errors.ts'

/** The texts of the page to which the `type` of an error links. */
export interface ErrorText {
  readonly when: string
  readonly remedy: string
}

const retryLater = 'Wait for the seconds in Retry-After, then retry. Double the delay with each attempt.'
const spreadRequests =
  'Wait for the seconds in Retry-After, then retry. Spread your requests over the minute: RateLimit on every response says how many remain.'

export const errorTexts: Record<ErrorCode, ErrorText> = {
  request_invalid: {
    when: 'A query parameter, a filter or a header is invalid. The service never ignores or corrects input.',
    remedy:
      'Read errors: each entry names the parameter, the position in it (offset and length, in UTF-16 code units of the decoded text), what was expected there, and, as suggestion, a corrected parameter. Show a suggestion to a person; do not send it without confirmation.',
  },
  body_invalid: {
    when: 'The body is invalid: a wrong Content-Type or charset of a create, no JSON object, or a member that is missing, unknown or of the wrong type. Or a GET has a body.',
    remedy: 'Correct the body. errors has the position of each fault as a JSON pointer.',
  },
  unauthenticated: {
    when: "The request has no valid API key of this account: the Authorization header is missing or malformed, the key is unknown, expired, revoked or another account's, or the host is not an account. The response is the same for every cause.",
    remedy:
      "Send 'Authorization: Bearer <key>' to the account's own host. If the error remains, ask your operator whether the key is still valid.",
  },
  scope_missing: {
    when: 'The key is valid but does not have the scope that this request needs; detail names the scope.',
    remedy: 'Use a key with that scope. A retry does not help.',
  },
  path_unknown: {
    when: 'The path does not exist.',
    remedy: 'Compare the path with the reference. Resource paths begin with /api/v1/.',
  },
  record_unknown: {
    when: 'The account has no record with this id. Ids are positive integers.',
    remedy: 'If the record existed before, it has been deleted. Ids are never reused.',
  },
  method_not_allowed: {
    when: 'The path exists but does not support this method.',
    remedy: 'The header Allow lists the supported methods.',
  },
  precondition_failed: {
    when: 'If-Match contains no current ETag of the record: another request has changed it. Nothing was written.',
    remedy:
      'Read the record again. If the change still applies, repeat it with the new ETag. After a database failover or restore, the ETag can change even if the record did not.',
  },
  media_type_unsupported: {
    when: 'The body has a Content-Type that this path does not take, none at all, a charset other than UTF-8, or a Content-Encoding that is not supported. A create returns body_invalid for a wrong Content-Type.',
    remedy:
      'Send a type that the header Accept-Query, Accept-Post or Accept-Patch of the response names. Omit Content-Encoding, or send one that Accept-Encoding names.',
  },
  rows_rejected: {
    when: 'The batch ended because 10,000 of its rows were rejected. This code is in the $error line of the response; the other lines have the reasons. Valid rows that were read before are written.',
    remedy:
      'Fix the cause that the lines show, and send the batch again: rows that were written are then unchanged.',
  },
  body_too_large: {
    when: 'The body exceeds the limit: 64 KB for a create or a patch, 1 MB for a batch as application/json, 256 KB for QUERY.',
    remedy: 'Split the request. Filters are limited to 64 KB and 1,000 list values.',
  },
  url_too_long: {
    when: 'The URL is longer than 16 KB.',
    remedy: 'Send the same parameters in the body of a QUERY request.',
  },
  expectation_failed: {
    when: 'The request has an Expect header other than 100-continue.',
    remedy: 'Omit the header.',
  },
  headers_too_large: {
    when: 'The request line and the headers together are longer than 32 KB.',
    remedy: 'Send fewer or shorter headers. Send a long filter with QUERY.',
  },
  idempotency_key_required: {
    when: 'An adjustment was sent without an Idempotency-Key. Without one, a retry after a lost response could apply it twice.',
    remedy: 'Send a new Idempotency-Key with each adjustment, and the same one to retry it.',
  },
  idempotency_conflict: {
    when: 'A request with the same Idempotency-Key is still running.',
    remedy: "Wait for the seconds in Retry-After, then retry: you get the first request's response.",
  },
  idempotency_mismatch: {
    when: 'This Idempotency-Key was used with another request within the last 24 hours. Nothing was written.',
    remedy:
      'Use a new Idempotency-Key for each new request, and the same one only to retry the same request: method, path, If-Match and body.',
  },
  adjustment_impossible: {
    when: 'A field is null, or the sum does not fit into a decimal: 24 digits before and 12 after the decimal point. errors has the sums. Nothing was written.',
    remedy: 'Read the record, and set the field with PATCH if that is what you want.',
  },
  key_already_created: {
    when: 'A key was already created with this Idempotency-Key. A key is shown only once; detail has its id.',
    remedy: 'If the first response was lost, revoke that key and create another with a new Idempotency-Key.',
  },
  key_not_active: {
    when: 'The key cannot be rotated: it has been rotated already, or it is expired or revoked.',
    remedy: "Check the key's state. Create a new key if you need one.",
  },
  keys_exhausted: {
    when: 'The account has reached its limit of 1,000 valid keys.',
    remedy: 'Revoke unused keys: last_used_on says when each was last used.',
  },
  records_exhausted: {
    when: 'The account has reached its quota for this resource: 2,000,000 records, unless the operator has set another. A batch ends with this error; the rows before it were written.',
    remedy: 'Delete records that you no longer need, or ask your operator for a higher quota.',
  },
  idempotency_exhausted: {
    when: 'The account has reached its quota of stored results for Idempotency-Keys: 1,000,000 within 24 hours, unless the operator has set another. Nothing was written. Retries with an earlier key still get their result.',
    remedy:
      'Send many records with one batch, which needs no Idempotency-Key, or wait until earlier results expire. Your operator can raise the quota.',
  },
  audit_exhausted: {
    when: "The account's audit log has reached its quota: 100,000 entries, unless the operator has set another. Entries are never deleted, so you can no longer create or change keys and webhooks. You can still revoke keys, and pause or delete webhooks.",
    remedy: 'Look for a program that changes keys or webhooks in a loop. Your operator can raise the quota.',
  },
  key_taken: {
    when: 'Another record has this value in a unique field. errors has the field and, as record, the id of that record. Nothing was written.',
    remedy:
      'Read that record. To create or change whichever record has the value, send PATCH to …/{key}/{value}.',
  },
  key_unknown: {
    when: 'The path or the parameter key names a field that is not unique in this account. detail has those that are.',
    remedy:
      'Address the record by its id, or by one of these fields. An administrator can declare a unique field at /manage/v1/fields.',
  },
  key_not_ready: {
    when: 'The field is becoming unique, and existing records are still being read. Or two of them have the same value, so the field cannot become unique.',
    remedy:
      "Wait for the seconds in Retry-After, then retry. /manage/v1/fields has the field's state: building, ready or duplicates.",
  },
  values_not_unique: {
    when: 'Several records have the same value in the field that should become unique. detail has the first of these values, with their records. Nothing was changed.',
    remedy: 'Give each record its own value, or null, and declare the field again.',
  },
  field_exists: {
    when: 'The account already has a field with this name for this resource.',
    remedy: 'Use that field, or another name. The list of fields shows them all.',
  },
  fields_exhausted: {
    when: 'The account has declared 64 fields for this resource, the maximum.',
    remedy: 'Delete a field that you no longer use.',
  },
  webhooks_exhausted: {
    when: 'The account already has 20 webhooks, the maximum.',
    remedy: 'Delete a webhook that you no longer use. One webhook can serve several consumers.',
  },
  webhook_unverified: {
    when: "The service sent a signed challenge to the webhook's URL, and did not receive it back; detail says what happened instead. A webhook that is still pending returns the same error for a pause or a test message: nothing is sent to a URL that is not verified.",
    remedy:
      'Respond to a message of type webhook.challenge with status 200 and its data.challenge as the body, within 15 seconds. Then activate the webhook again. The list of deliveries shows each attempt.',
  },
  webhooks_unavailable: {
    when: 'The operator has not set QUARTERMASTER_WEBHOOK_SECRET, from which webhook secrets are derived.',
    remedy: 'Ask your operator to set it, or read the change feed instead.',
  },
  account_rate_exceeded: {
    when: 'The account has exceeded its requests per minute. RateLimit-Policy has the limit.',
    remedy: spreadRequests,
  },
  key_rate_exceeded: {
    when: "This key has exceeded its requests per minute. The account's other keys may still send requests.",
    remedy: spreadRequests,
  },
  account_busy: {
    when: 'The account has too many long queries or writes in flight, and its queue is full. A rejected write has written nothing.',
    remedy: 'Wait for the seconds in Retry-After, then retry, and send fewer requests at once.',
  },
  client_disconnected: {
    when: 'The client closed the connection before the response was sent. The error is only logged.',
    remedy: "Increase the client's timeout, or narrow the request.",
  },
  shutting_down: {
    when: 'The service shut down and closed the connection before the response was sent. The error is only logged.',
    remedy:
      'Retry the request: another process serves it. A create with an Idempotency-Key is executed only once.',
  },
  export_limit: {
    when: 'The account runs too many exports: two in each process, or one if the last free slot is reserved for other accounts.',
    remedy: 'Wait until one of them ends and for the seconds in Retry-After, then retry.',
  },
  feed_limit: {
    when: 'Too many clients wait for changes in this process: 2,000 long polls and streams.',
    remedy:
      'Wait for the seconds in Retry-After, then retry, or request changes without wait. One stream can serve many consumers.',
  },
  cursor_expired: {
    when: 'Some changes after this cursor are no longer stored. Deletions are kept for 30 days and up to 1,000,000 per account; after a database restore, or a failover that lost writes, later cursors are invalid.',
    remedy:
      'Start again: read an export, whose header X-Changes-Cursor has a new cursor, or the first page of the feed, to which the header Link leads. From your copy, delete the records that it does not contain.',
  },
  overloaded: {
    when: 'The service is overloaded. Nothing was written.',
    remedy: retryLater,
  },
  database_unavailable: {
    when: 'The database is unreachable, fails over to another server, or is being restored. Nothing was written.',
    remedy: retryLater,
  },
  outcome_unknown: {
    when: 'The connection to the database was lost during the commit. The write may or may not have been committed.',
    remedy:
      'Retry with the same Idempotency-Key: the write then happens exactly once. Without an Idempotency-Key, check first whether the record exists.',
  },
  deadline_exceeded: {
    when: 'The query exceeded its timeout: 10 seconds, unless the operator has configured another.',
    remedy:
      'Narrow the filter, or request fewer records per page. "Contains" is fast with three or more letters.',
  },
  total_pending: {
    when: 'A filter that matches a large part of millions of records was requested for the first time, and its exact total takes longer to count than a request can wait. The service goes on counting after the response.',
    remedy:
      'Repeat the request after the seconds in Retry-After. Once the total is known, it is kept up to date across writes, and every page of the list is fast.',
  },
  internal: {
    when: "An internal error occurred. The operator's log has its cause.",
    remedy: 'Report the request_id to your operator.',
  },
}
