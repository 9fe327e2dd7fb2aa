/** The limits of connections to the database and of statements on them, a part of `limits.ts`. */
export const connectionLimits = {
  /** Prepared statements per connection; uses after which a text is prepared; texts whose uses are counted. */
  preparedStatementsMax: 100,
  preparedUsesMin: 3,
  preparedCandidatesMax: 1_000,
  /** All use counts are halved after this number of statements. */
  preparedDecayStatements: 10_000,

  /** Connections on which short statements are pipelined, and statements in flight on one. */
  pipelinedConnections: 3,
  pipelinedStatementsMax: 500,
  /** Statements of one event-loop iteration that share a connection, so that they wake up one backend. */
  pipelinedBatchStatements: 8,
  /** Records of a page that may be read on a pipelined connection: about 0.3 ms. */
  pipelinedRecordsMax: 100,
  /** Records of a small account, whose filters use one generic plan, and conditions of a filter that may be pipelined there. */
  smallAccountRecordsMax: 500,
  pipelinedConditionsMax: 4,

  /** Timeout of a read: it is cancelled, and the response is 504. */
  readMsMax: 10_000,
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
  /** The same for a command of the operator, who can wait for a busy machine, and would otherwise have to run it again. */
  commandConnectMsMax: 30_000,
  /** The longest `connect_timeout` of a database URL, which replaces the two. */
  connectSecondsMax: 600,
  /** If a server of the URL has not responded after this time, the next ones are tried, repeatedly, while it is pending. */
  nextServerDelayMs: 300,
  /** A connection attempt is restarted if it takes this much longer than another one took: its server does not respond. */
  connectLagMsMax: 500,
  /** TCP keepalive of an idle connection: a machine that failed sends no FIN. */
  keepAliveMs: 5_000,
  /** The same in PostgreSQL, of a backend whose process is gone: seconds without traffic, between probes, and probes. */
  backendKeepAliveSeconds: 10,
  backendKeepAliveProbeSeconds: 5,
  backendKeepAliveProbes: 3,
  /** PostgreSQL rolls back a write whose process sends nothing for this long: longer than the timeout of a write. */
  idleTransactionMsMax: 6_000,
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
  /** Replicas that DATABASE_REPLICA_URLS can name. */
  replicasMax: 16,
  /** An idle pool connection is closed after this time. */
  poolIdleMsMax: 10_000,
  /** Requests that may wait for a pool connection; further ones get 503 at once. */
  poolWaitingMax: 1_000,
} as const
