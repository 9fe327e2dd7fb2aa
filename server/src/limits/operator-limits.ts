/** Limits of what operators do with accounts: `account apply`, deletions, and the operator API. */
export const operatorLimits = {
  /** Connections on which `account apply` changes accounts: each account costs a commit, and commits of several share a flush. */
  applyConnections: 4,
  /** Accounts that it compares with their descriptions at once. */
  applyCompareAccounts: 250,
  /** Days until a deleted account is gone, unless the operator says otherwise: long enough to notice a mistake. */
  deletionGraceDays: 7,
  /** Rows that one step of a deletion deletes in one transaction: about 20 ms. */
  deletionStepRows: 2_000,
  /** The pause after a step is as long as the step, at most this. */
  deletionPauseMsMax: 500,
  /**
   * From the request to delete an account to the last step: requests in flight end, and processes write their logs, which takes
   * `usageFlushMs` and some seconds.
   */
  deletionSettleMs: 20_000,
  /** For how long a deleted account is searched for rows that a process has written late, for example after an outage. */
  deletionRecheckHours: 24,
  /** Deletions that one statement lists. */
  deletionsListed: 1_000,
  /** Connections of the operator API as the owner, and how long one may be idle before it is not used again. */
  ownerConnections: 4,
  ownerConnectionIdleMs: 10_000,
  /** Days for which a call of the operator API stays in its audit log: a year and a month. */
  operatorAuditDays: 400,
  /** A description of an account: its longest lists of keys and origins need less. */
  operatorBodyBytesMax: 256 * 1024,
  /** Days that a usage report can sum up: those that are stored. */
  operatorUsageDaysDefault: 7,
  /** How often the operator API's process looks for deletions that are due. */
  operatorSweepMs: 60_000,
} as const
