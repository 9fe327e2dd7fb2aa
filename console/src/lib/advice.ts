/** What a person can do about an error, by its code. The message of the service says what is wrong. */
const advice: Readonly<Record<string, string>> = {
  request_invalid: 'Correct the parameter in the filter bar or in the address of this page.',
  unauthenticated:
    'The key may be revoked, expired or of another account. Sign in with another key, and check that this is the host of your account.',
  scope_missing: 'Sign in with a key that has this scope, or ask an administrator of the account for one.',
  record_unknown: 'The record may have been deleted. Close it to return to the list.',
  account_rate_exceeded: 'Wait until the minute is over, then try again.',
  key_rate_exceeded: 'Wait until the minute is over, then try again.',
  account_busy: 'Other queries of this account are running. Try again in a moment.',
  export_limit: 'Wait until another export of this account has ended, then try again.',
  overloaded: 'The service has too much work. Try again in a moment.',
  database_unavailable: 'The service cannot reach its database. Try again in a moment.',
  deadline_exceeded: 'The query took too long. Add a condition that selects fewer records.',
  total_pending:
    'The first count of this filter takes a while. Try again in a few seconds, or add a condition.',
  outcome_unknown: 'Try again: with the same request, nothing is created twice.',
  internal: 'This is a fault of the service. Report the request id to its operator.',
  connection_failed: 'Check your connection to the service, then try again.',
  no_response: 'Check your connection to the service, then try again.',
}

export function adviceOf(code: string): string | undefined {
  return advice[code]
}
