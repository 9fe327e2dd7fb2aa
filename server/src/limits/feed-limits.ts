/** The limits of the change feed, a part of `limits.ts`. */
export const feedLimits = {
  /** Changes of a page of the feed by default; the maximum is that of a list. */
  feedPageChangesDefault: 100,
  /** Records that a page with a filter examines, about 2 µs each: a filter may match none of a million changed records. */
  feedScanRecordsMax: 10_000,
  /** The longest `wait`: proxies close a connection without traffic after 60 s. */
  feedWaitSecondsMax: 30,
  /**
   * Clients that wait for changes, in long polls and streams, about 50 KB each. All share one check of their tallies at this
   * interval, in statements of at most `feedCheckBatchMax` tallies, and one check of their keys.
   */
  feedWaitersMax: 2_000,
  /** Those of one account: every write wakes all of them, and each may read a page of its own. */
  accountFeedWaitersMax: 100,
  /** Short pages that are read at once, of all accounts and of one: other accounts wait behind them on pipelined connections. */
  feedPagesInFlightMax: 6,
  accountFeedPagesMax: 2,
  /** Waiting clients that are woken in one event-loop iteration, 0.1 ms each. */
  feedWakeClients: 20,
  feedCheckMs: 500,
  feedCheckBatchMax: 1_000,
  feedKeyCheckMs: 10_000,
  /** A stream whose key could not be verified for this long, because the database is unavailable, ends. */
  feedUnverifiedMsMax: 30_000,
  /** A stream sends something at least at this interval, so that proxies and clients do not take it for broken. */
  feedHeartbeatMs: 15_000,
  /** A stream ends after this time; the client resumes it. Otherwise a restarted process would never get its share of them. */
  feedStreamMsMax: 60 * 60 * 1000,
} as const
