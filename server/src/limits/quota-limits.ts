/** What one account may store, a part of `limits.ts`. The operator can set other quotas for an account. */
export const quotaLimits = {
  /** Records of each resource that an account may have when it creates further ones over HTTP. The operator's imports are not limited. */
  recordsMax: 2_000_000,
  /** Unexpired results for retries: 11 writes with an Idempotency-Key per second, for the 24 hours that a result is stored. */
  idempotencyResultsMax: 1_000_000,
  /**
   * New results of an account in a process between two counts: counting a million takes 100 ms. While the account is at its quota,
   * the process counts again at most once in this time.
   */
  idempotencyCountRows: 1_000,
  idempotencyRecountMs: 60_000,
  /** Accounts whose new results a process counts, about 200 bytes each. */
  idempotencyAccountsTracked: 10_000,
  /** Audit entries: they are never deleted. Counting them takes about 10 ms, for each change of a key or webhook. */
  auditRowsMax: 100_000,
  /** The highest quota that the operator can set. */
  quotaMax: 1_000_000_000,
} as const
