/** The limits of connections to the database and of statements on them, a part of `limits.ts`. */
export const connectionLimits = {
  /** Prepared statements per connection, the least recently used one is closed; uses after which a text is prepared; texts whose uses are counted. */
  preparedStatementsMax: 100,
  preparedUsesMin: 3,
  preparedCandidatesMax: 1_000,

  /** Records of a page that may be read on a pipelined connection: about 0.3 ms. */
  pipelinedRecordsMax: 100,
  /** Records of a small account, whose filters use one generic plan, and conditions of a filter that may be pipelined there. */
  smallAccountRecordsMax: 500,
  pipelinedConditionsMax: 4,

  /** Memory of each sort, hash table or bitmap of a read, in addition to that of the connection: `work_mem`. */
  readMemoryBytes: 64 * 1024 * 1024,
  /**
   * Timeout of a total that is counted in the background because a request could not wait for it, and the number of them in a process.
   * An account has one at a time. One that failed is not repeated for a while.
   */
  backgroundCountMsMax: 120_000,
  backgroundCountsMax: 2,
  backgroundCountRetryMs: 300_000,
  backgroundCountsFailedMax: 1_000,

  /** Timeout of a read: it is cancelled, and the response is 504. */
  readMsMax: 10_000,
  /** The same for a command of the operator, who can wait for a busy machine, and would otherwise have to run it again. */
  commandConnectMsMax: 30_000,
  /** The longest `connect_timeout` of a database URL, which replaces the two. */
  connectSecondsMax: 600,
  /** If a server of the URL has not responded after this time, the next ones are tried, repeatedly, while it is pending. */
  nextServerDelayMs: 300,
  /** TCP keepalive of an idle connection: a machine that failed sends no FIN. */
  keepAliveMs: 5_000,
  /** The same in PostgreSQL, of a backend whose process is gone: seconds without traffic, between probes, and probes. */
  backendKeepAliveSeconds: 10,
  backendKeepAliveProbeSeconds: 5,
  backendKeepAliveProbes: 3,
  /** PostgreSQL rolls back a write whose process sends nothing for this long: longer than the timeout of a write. */
  idleTransactionMsMax: 6_000,
  /** Replicas that DATABASE_REPLICA_URLS can name. */
  replicasMax: 16,
  /** An idle pool connection is closed after this time. */
  poolIdleMsMax: 10_000,
  /** Requests that may wait for a pool connection; further ones get 503 at once. */
  poolWaitingMax: 1_000,
} as const
