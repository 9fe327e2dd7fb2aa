/**
 * The limits that a process passes to its parts, so that a test can pass others. All other limits are constants, in `limits.ts`. A
 * limit is in exactly one of the two objects: a part of the service gets `Limits`, and a test can pass nothing else. Only what
 * starts a process reads these defaults (`architecture/limits.test.ts`).
 */
export const defaultLimits = {
  /** Interval of the sweep for expired before-images and tombstones, which visits `journalSweepAccounts`. */
  journalSweepMs: 60_000,
  /** Interval at which processes continue erasures. */
  erasureSweepMs: 5_000,
  /** From the request to erase a record to the last search: requests in flight end, and processes write their logs. */
  erasureSettleMs: 20_000,
  /** From this number of records on, filters on declared fields use the table of values: evaluating fewer takes 2 ms. */
  indexedRecordsMin: 2_000,
  /** Interval at which request log, usage and last use of keys are written. */
  activityFlushMs: 200,
  /** Usage is aggregated in memory for this long: the longer, the more requests share a row. */
  usageFlushMs: 15_000,
  /** Time for the last of these writes when the process exits. */
  activityCloseMsMax: 5_000,
  /**
   * A key that was accepted this long ago: the read of its next request is sent together with the verification. Covers a client
   * that asks every minute. If the key was revoked meanwhile, it causes reads only until it is rejected for the first time.
   */
  readAheadMs: 120_000,
  /** How long a process relies on an origin that an account allowed: removed ones are rejected after this time. */
  corsCachedMs: 1_000,
  /** Preflights of a client address to an account in a window of `rateWindowMs`, in each process. A browser sends one for each URL. */
  corsPreflightsMax: 6_000,
  /**
   * Load shedding. New requests get 503 while `requestsWaitingMax` requests wait for key verification or a pipelined
   * statement, or at least `requestsWaitingMin` of which the oldest has waited for `requestsWaitingMsMax`.
   */
  requestsWaitingMax: 200,
  requestsWaitingMin: 50,
  requestsWaitingMsMax: 100,
  /** The longest time in an account's queue of writes, about 2 ms per write ahead. */
  accountWriteWaitMsMax: 2_000,
  /** Timeout for sending a batch of spans. */
  traceExportMsMax: 3_000,
  /** How long the result of a readiness check is reused. */
  readinessCacheMs: 1_000,
  /** Time for requests in flight to finish after the port is closed. */
  shutdownMsMax: 15_000,
  /** Idle-connection sweep interval during shutdown. */
  idleConnectionSweepMs: 100,
  /** Timeouts for receiving the headers and the complete request; interval at which Node checks them. */
  headersReceiveMsMax: 10_000,
  requestReceiveMsMax: 30_000,
  connectionsCheckMs: 100,
  /** A connection without traffic, in addition to the read timeout: the client does not read its response. */
  silentConnectionMsMax: 60_000,
  /** Listen backlog: connections that the kernel accepts ahead of the process. Clients beyond it retry after a second. */
  listenBacklog: 4_096,
  /** In a rolling restart, a new worker that is not ready after this time is stopped, and the old one continues. */
  workerReadyMsMax: 30_000,
  /** Interval at which it checks whether it is ready. */
  workerReadyPollMs: 250,
  /** Connections of a process, about 20 KB each; further ones are closed at once. */
  connectionsMax: 10_000,
  /**
   * Of those, the connections of one account, idle ones on which no key was accepted, and among the latter those that got a response
   * other than 503, which is sent before a key is verified.
   */
  accountConnectionsMax: 1_000,
  unknownConnectionsMax: 5_000,
  keylessConnectionsMax: 200,
  /**
   * Exports in flight in a process, each on its own connection, and of one account. The second export of an account
   * starts only if another slot stays free.
   */
  exportsInFlightMax: 4,
  accountExportsMax: 2,
  /** Exports that wait for a slot, one per account, and how long. */
  exportsWaitingMax: 20,
  exportWaitMsMax: 10_000,
  /**
   * While exports or batches wait for a seat, the transfer rates of running ones are checked at this interval. One whose client
   * has read or sent slower than the minimum, over at least the window, is aborted. The minimum is half a megabit per second.
   */
  slowClientCheckMs: 500,
  slowClientWindowMs: 1_000,
  slowClientBytesPerSecondMin: 64 * 1024,
  /** An export without progress, of the database or of the client, is aborted after this time. */
  exportStallMsMax: 60_000,

  /** Connections on which short statements are pipelined, and statements in flight on one. */
  pipelinedConnections: 3,
  pipelinedStatementsMax: 500,
  /** Statements of one event-loop iteration that share a connection, so that they wake up one backend. */
  pipelinedBatchStatements: 8,
  /** A read without a waiting client is cancelled after this time. A cancel request costs PostgreSQL a process, and most reads end sooner. */
  cancelAfterMs: 50,
  /** A read that PostgreSQL has not cancelled this long after its timeout: the response is sent without waiting for it. */
  readGraceMs: 1_000,
  /** Timeout of a pipelined statement, which usually takes milliseconds: the statements queued behind it wait. */
  pipelinedMsMax: 2_000,
  /** A pipelined connection that sends nothing for this long is closed, and its statements fail with 503. Check interval. */
  pipelinedSilenceMsMax: 2_500,
  pipelinedCheckMs: 250,
  /** Wait for the next pipelined connection after that, so that the two waits together stay below 5 s. */
  reconnectSilentMsMax: 1_000,
  /** A write waits this long for its account's tally row, then fails with 503 before it has written anything. */
  writeLockMsMax: 2_500,
  /** Timeout of a write. It is never cancelled: if it may have been committed, the response is `outcome_unknown`. */
  writeMsMax: 4_500,
  /** Timeout for opening a connection, including the check of which server it leads to. */
  connectMsMax: 3_000,
  /** A connection attempt is restarted if it takes this much longer than another one took: its server does not respond. */
  connectLagMsMax: 500,
  /** Interval at which a new connection is opened to check which server is the primary. */
  primaryCheckMs: 1_000,
  /** Checks that the server may leave unanswered. Then reads in flight fail with 503, before they have waited for 5 s. */
  unansweredChecksMax: 3,
  /** After a failed connection attempt, further ones fail at once for this long; doubled each time up to the maximum. */
  reconnectMsMin: 50,
  reconnectMsMax: 500,
  /** Wait for a pool connection, for long reads and for writes, then 503. Writes are short. */
  readWaitMsMax: 5_000,
  writeWaitMsMax: 1_500,
  /** Interval at which each replica is checked. */
  replicaCheckMs: 1_000,
  /** A replica that does not respond to the check, or to the comparison before a read, for this long: the primary answers. */
  replicaSilenceMsMax: 1_000,
  /** After a failed read, a replica gets no others for this long; doubled each time up to the maximum. */
  replicaPauseMsMin: 500,
  replicaPauseMsMax: 10_000,
  /** Replicas that are tried for one read before the primary runs it. */
  replicaAttemptsMax: 2,

  /**
   * Batches in flight of an account and of a process, each with up to about 4 MB of rows. An account gets a second one only if
   * this number stays free for other accounts.
   */
  accountBatchesMax: 2,
  batchesInFlightMax: 16,
  batchesSpare: 8,
  /** Batches that wait, one of each account, and how long. */
  batchesWaitingMax: 50,
  batchQueueMsMax: 5_000,
  /** Connections for them. A batch uses one only while it writes rows that it has received. */
  batchConnectionsMax: 2,
  /**
   * A batch waits this long for a connection, for its account's tally row, and, with that, for the commit of its rows: in all
   * less than 10 s for a part that usually takes 0.1 s, also while the database fails over.
   */
  batchWaitMsMax: 4_000,
  batchLockMsMax: 4_000,
  batchWriteMsMax: 5_000,

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

  /** A request to a receiver, in all, as Standard Webhooks recommends; and what is read of its response: a challenge has 60 bytes. */
  webhookRequestMsMax: 15_000,
  webhookResponseBytesMax: 4 * 1024,
  /** Bytes of a message: receivers commonly accept bodies up to 1 MB. */
  webhookBodyBytesMax: 256 * 1024,
  /** Messages that are sent to an endpoint in a row before messages to others of the same process. */
  webhookRunMessagesMax: 20,
  /** The lease of a process on an endpoint: longer than a request and the statements around it. After a crash others wait this long. */
  webhookLeaseMs: 30_000,
  /** The longest time between renewing the lease and sending: lease minus request minus the time to store the result. */
  webhookLeaseSlackMsMax: 8_000,
  /** Delay after the first failure; it doubles with each further one, up to the maximum. A receiver's Retry-After may be longer. */
  webhookRetrySecondsMin: 5,
  webhookRetrySecondsMax: 3_600,
  webhookRetryAfterSecondsMax: 86_400,
  /** Interval of the sweep that finds undelivered changes. */
  webhookSweepMs: 5_000,
  /** Writes of this process are collected for this long before their accounts are checked, and accounts of one such check. */
  webhookHintMs: 50,
  webhookHintAccountsMax: 1_000,
  /** Endpoints that a process sends to at once, of all accounts and of one; and those that wait. The sweep finds further ones again. */
  webhooksInFlightMax: 50,
  accountWebhooksInFlightMax: 5,
  webhooksWaitingMax: 10_000,
  /** How long an endpoint waits: longer than most messages take, and the sweep finds it again. */
  webhookQueueMsMax: 60_000,
  /** Challenges and test messages of a process, each up to 15 s, and of one account. */
  webhookTestsInFlightMax: 20,
  accountWebhookTestsInFlightMax: 2,
  /** Time for deliveries in flight to store their result when the process exits; their requests are aborted. */
  webhookCloseMsMax: 5_000,
  /** Rows beyond `deliveryLogRowsMax` before they are deleted. */
  deliveryTrimRows: 500,
} as const

export type Limits = Readonly<Record<keyof typeof defaultLimits, number>>
