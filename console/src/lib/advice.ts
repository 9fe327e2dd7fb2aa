import { t } from '../texts/texts.ts'

/** What a person can do about an error, by its code. The message of the service says what is wrong. */
const advice: Readonly<Record<string, keyof typeof t.advice>> = {
  request_invalid: 'requestInvalid',
  unauthenticated: 'unauthenticated',
  scope_missing: 'scopeMissing',
  record_unknown: 'recordUnknown',
  account_rate_exceeded: 'rate',
  key_rate_exceeded: 'rate',
  account_busy: 'accountBusy',
  export_limit: 'exportLimit',
  overloaded: 'overloaded',
  database_unavailable: 'databaseUnavailable',
  deadline_exceeded: 'deadlineExceeded',
  total_pending: 'totalPending',
  outcome_unknown: 'outcomeUnknown',
  internal: 'internal',
  connection_failed: 'connection',
  no_response: 'connection',
}

export function adviceOf(code: string): string | undefined {
  const name = advice[code]
  return name === undefined ? undefined : t.advice[name]
}
