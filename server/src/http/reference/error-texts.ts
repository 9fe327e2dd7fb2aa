import type { ErrorCode } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'

/** The texts of the page to which the `type` of an error links, and of the table in docs/reference/errors.md. */
export interface ErrorText {
  readonly when: string
  readonly remedy: string
  /** `when` and the message of the response already say it, or another page of the reference does: the table has no remedy. */
  readonly isObvious?: true
}

const count = (value: number) => value.toLocaleString('en-US')
const kilobytes = (bytes: number) => `${bytes / 1024} KB`
const megabytes = (bytes: number) => `${bytes / 1024 ** 2} MB`

const retryLater = 'Retry, with a doubled delay each time.'
const spreadRequests = 'Spread requests over the minute: RateLimit on every response has how many remain.'
const askForQuota = 'ask your operator for a higher quota.'

export const errorTexts: Record<ErrorCode, ErrorText> = {
  request_invalid: {
    when: 'A parameter, filter or header is invalid.',
    remedy:
      'Read errors: each entry has the parameter, the position in it, what was expected, and a correction if there is a clear one. The service never ignores or corrects input.',
    isObvious: true,
  },
  body_invalid: {
    when: 'The body is not JSON, a member is missing, unknown or invalid, or a GET has a body.',
    remedy: 'Correct it: errors has each fault with a JSON Pointer.',
    isObvious: true,
  },
  rows_rejected: {
    when: `${count(limits.batchRejectedRowsMax)} rows of a batch were rejected, or its held results are too large. Valid rows before are written.`,
    remedy: 'Fix the cause that the lines show, and send the batch again.',
    isObvious: true,
  },
  idempotency_key_required: {
    when: 'An adjustment has no Idempotency-Key.',
    remedy: 'Send a new one with each, and the same one to retry it.',
  },
  unauthenticated: {
    when: 'The request has no valid API key of this account.',
    remedy: 'Check the Authorization header and the host, then ask who created the key whether it is valid.',
    isObvious: true,
  },
  scope_missing: {
    when: 'The key lacks the scope that detail names.',
    remedy: 'Use a key with that scope.',
    isObvious: true,
  },
  path_unknown: {
    when: 'The path does not exist.',
    remedy: 'Compare it with the reference. Paths of resources begin with /api/v1/.',
    isObvious: true,
  },
  record_unknown: {
    when: 'The account has no record with this id.',
    remedy: 'If it existed before, it was deleted.',
    isObvious: true,
  },
  key_unknown: {
    when: 'key names a field that is not unique. detail has those that are.',
    remedy: 'Address the record by id, or declare the field as unique.',
    isObvious: true,
  },
  method_not_allowed: {
    when: 'The path does not support this method.',
    remedy: 'Use a method in Allow.',
    isObvious: true,
  },
  idempotency_conflict: {
    when: 'The first request with this Idempotency-Key still runs.',
    remedy: 'Retry to receive its response.',
  },
  adjustment_impossible: {
    when: `A field is null, or the sum has more than ${limits.decimalIntegerDigitsMax} digits before or ${limits.decimalFractionDigitsMax} after the decimal point. Nothing was written.`,
    remedy: 'Read the record, and set the field with PATCH if that is what you want.',
    isObvious: true,
  },
  key_already_created: {
    when: 'This Idempotency-Key has created a key, which cannot be shown again. detail has its id.',
    remedy: 'If you lost the first response, revoke that key and create another.',
    isObvious: true,
  },
  key_not_active: {
    when: 'The key to rotate is rotating, expired or revoked.',
    remedy: 'Check its state, and create a key if you need one.',
    isObvious: true,
  },
  keys_exhausted: {
    when: `The account has ${count(limits.keysValidMax)} valid keys.`,
    remedy: 'Revoke unused ones: last_used_on has the day of their last use.',
    isObvious: true,
  },
  records_exhausted: {
    when: `The resource's quota of records is reached, by default ${count(limits.recordsMax)}. Earlier rows of a batch are written.`,
    remedy: `Delete records, or ${askForQuota}`,
    isObvious: true,
  },
  audit_exhausted: {
    when: `The audit log's quota is reached, by default ${count(limits.auditRowsMax)} entries. Revoking keys, pausing or deleting webhooks and removing origins still work.`,
    remedy: `Find the program that changes keys or webhooks in a loop, or ${askForQuota}`,
    isObvious: true,
  },
  key_taken: {
    when: 'Another record has this value of a unique field; errors has its id. Nothing was written.',
    remedy: 'Use that record. To write whichever record has the value, send PATCH to …/{key}/{value}.',
    isObvious: true,
  },
  key_not_ready: {
    when: 'The field is becoming unique, or two records share a value.',
    remedy: 'Retry later. /manage/v1/fields has its state.',
  },
  values_not_unique: {
    when: 'Records share a value of the field that is to be unique. detail has the first. Nothing was changed.',
    remedy: 'Give each its own value or null, then declare the field again.',
    isObvious: true,
  },
  account_unknown: {
    when: 'For operators: no account has the name.',
    remedy: 'List the accounts, or create this one.',
  },
  account_exists: {
    when: 'For operators: the account exists.',
    remedy: 'Use it, or another name. `account create --if-not-exists` accepts it.',
  },
  account_name_retired: {
    when: 'For operators: an account of this name was deleted. Names are never used again.',
    remedy: 'Use another name.',
  },
  account_deleting: {
    when: "For operators: the account's deletion has begun and cannot be undone.",
    remedy: 'Wait until it ends.',
  },
  field_exists: {
    when: 'The resource has a field with this name.',
    remedy: 'Use it, or another name.',
    isObvious: true,
  },
  fields_exhausted: {
    when: `The resource has ${limits.ownFieldsMax} declared fields.`,
    remedy: 'Delete one.',
    isObvious: true,
  },
  webhooks_exhausted: {
    when: `The account has ${limits.webhooksMax} webhooks.`,
    remedy: 'Delete one. One webhook can serve several consumers.',
    isObvious: true,
  },
  webhook_unverified: {
    when: 'The receiver did not return the challenge, or the webhook is pending. detail says which.',
    remedy:
      'Respond to webhook.challenge with 200 and data.challenge as the body. Then activate the webhook.',
    isObvious: true,
  },
  cursor_expired: {
    when: `Deletions after this cursor may be unknown: they are kept for ${limits.tombstoneDays} days, up to ${count(limits.tombstonesMax)}. A restore, or a failover that lost writes, also expires cursors.`,
    remedy: 'Start again with an export or without since, and delete the records that you do not receive.',
  },
  precondition_failed: {
    when: 'The record no longer has the ETag in If-Match. Nothing was written.',
    remedy: 'Read the record, and repeat the change with the new ETag if it still applies.',
  },
  body_too_large: {
    when: `The body exceeds ${kilobytes(limits.createBodyBytesMax)} for a create or patch, ${megabytes(limits.batchJsonBytesMax)} for a batch as application/json, ${kilobytes(limits.queryBodyBytesMax)} for QUERY.`,
    remedy: 'Split the request, or send a batch as application/x-ndjson.',
  },
  url_too_long: {
    when: `The URL exceeds ${kilobytes(limits.urlBytesMax)}.`,
    remedy: 'Send a QUERY.',
  },
  media_type_unsupported: {
    when: 'The path does not take this content type, its charset is not UTF-8, or the body is compressed but not a batch in gzip.',
    remedy: 'Send a type that Accept-Query, Accept-Patch or Accept-Post names.',
    isObvious: true,
  },
  expectation_failed: {
    when: 'An Expect header other than 100-continue.',
    remedy: 'Omit it.',
    isObvious: true,
  },
  idempotency_mismatch: {
    when: `This Idempotency-Key was used with another request in the last ${limits.idempotencyHours} hours. Nothing was written.`,
    remedy: 'Use a new one for each new request.',
    isObvious: true,
  },
  account_rate_exceeded: {
    when: 'The account has exceeded its requests per minute, which RateLimit-Policy has.',
    remedy: spreadRequests,
    isObvious: true,
  },
  key_rate_exceeded: {
    when: 'This key has exceeded its requests per minute. Other keys may still send.',
    remedy: spreadRequests,
    isObvious: true,
  },
  account_busy: {
    when: 'Too many long queries, writes or batches of the account are running and queued. Nothing was written.',
    remedy: 'Retry with fewer at a time.',
  },
  idempotency_exhausted: {
    when: `The quota of results for retries is reached, by default ${count(limits.idempotencyResultsMax)} in ${limits.idempotencyHours} hours. Nothing was written. Earlier keys still get their result.`,
    remedy: `Use batches, which need no key; wait; or ${askForQuota}`,
  },
  export_limit: {
    when: 'Too many exports of the account run, or the last slot is kept for other accounts.',
    remedy: 'Retry when one has ended.',
    isObvious: true,
  },
  feed_limit: {
    when: 'Too many clients of the account or the process wait for changes.',
    remedy: 'Retry later, or request changes without wait.',
    isObvious: true,
  },
  headers_too_large: {
    when: `Request line and headers exceed ${kilobytes(limits.headerBytesMax)}.`,
    remedy: 'Send fewer or shorter headers, and a long filter with QUERY.',
    isObvious: true,
  },
  client_disconnected: {
    when: 'The client closed the connection before the response. Only logged.',
    remedy: "Increase the client's timeout, or narrow the request.",
    isObvious: true,
  },
  internal: {
    when: 'A bug in the service.',
    remedy: 'Report the request_id to your operator, whose log has the cause.',
  },
  webhooks_unavailable: {
    when: 'The operator has not configured webhooks.',
    remedy: 'Read the change feed, or ask your operator to set QUARTERMASTER_WEBHOOK_SECRET.',
  },
  overloaded: {
    when: 'The service has too much work. Nothing was written.',
    remedy: retryLater,
  },
  database_unavailable: {
    when: 'The database is unreachable, fails over or is being restored. Nothing was written.',
    remedy: retryLater,
  },
  shutting_down: {
    when: 'The process shut down before the response. Only logged.',
    remedy: 'Retry: another process serves it. With an Idempotency-Key, a write happens once.',
    isObvious: true,
  },
  outcome_unknown: {
    when: 'The database connection broke during the commit.',
    remedy:
      'The write may or may not be committed. Retry with the same Idempotency-Key; without one, first look for the record.',
  },
  deadline_exceeded: {
    when: `The query exceeded its timeout, by default ${limits.readMsMax / 1000} seconds.`,
    remedy: 'Narrow the filter, or request fewer records. "Contains" is fast from three letters on.',
  },
  total_pending: {
    when: 'A first total or summary takes longer to count than a request can wait. The count goes on.',
    remedy: 'Repeat the request.',
  },
}
