import { filterBounds } from '@quartermaster/filter'

/**
 * Every bound of the service, with its unit in the name and its reason beside it. What is not here is not bounded,
 * and what is not bounded is a defect.
 */
export const limits = {
  /** Records on a page: the specification's default and maximum. */
  pageRecordsDefault: 10,
  pageRecordsMax: 1000,
  /** The highest page number that can be asked for: page × limit stays an exact integer. */
  pageNumberMax: 9_000_000_000_000,

  /** A URL, with its query. Longer filters go by QUERY. */
  urlBytesMax: 16 * 1024,
  /** Request line and headers together, as Node counts them: the URL and as much again for headers. */
  headerBytesMax: 32 * 1024,
  /** A Link header: stock HTTP clients take 16 KB of headers in all. A list with longer links goes without. */
  linkBytesMax: 4 * 1024,
  /** A Content-Type: the longest in use are a third of it. */
  contentTypeCharactersMax: 256,
  /** The body of a create: a name of 512 characters, each written as a JSON escape pair, fits many times over. */
  createBodyBytesMax: 64 * 1024,
  /** The body of a QUERY: a filter of the full 64 KB with every byte percent-encoded, and the other parameters. */
  queryBodyBytesMax: 256 * 1024,

  filterUrlBytesMax: 8 * 1024,
  /** The other limits of a filter are those of its parser. */
  filterBodyBytesMax: filterBounds.lengthMax,
  filterConditionsMax: filterBounds.conditionsMax,
  filterListValuesMax: filterBounds.listValuesMax,
  filterDepthMax: filterBounds.depthMax,
  /** `![]` up to this many values becomes index ranges; beyond, one array test. Each range is an index scan of its own. */
  filterGapValuesMax: 16,
  /** Conditions apart from each other that are looked up one by one; the gaps between excluded values, and null. */
  filterDisjunctsMax: 18,
  /** Matches of a filter that are found by index and sorted, some 1 µs each; beyond, ids are walked in order. */
  filterSortRecordsMax: 20_000,
  /** Characters of a date-time: the longest that can be read, with nanoseconds and a zone, has 35. */
  timestampCharactersMax: 35,
  /** Characters of a decimal literal, and its exponent: far beyond what is stored, far below what numeric refuses. */
  decimalCharactersMax: 100,
  decimalExponentMax: 1000,
  /**
   * Errors listed in one answer, their bytes, and beside those the bytes of suggestions: an answer to bad input stays below
   * 64 KB, whatever was sent.
   */
  errorsListedMax: 50,
  errorsBytesMax: 40 * 1024,
  errorSuggestionsBytesMax: 16 * 1024,
  /** Of what a caller sent, as an error repeats it. */
  errorEchoCharactersMax: 60,

  /** Integers travel as JSON numbers, which most clients read as doubles. */
  integerMax: Number.MAX_SAFE_INTEGER,
  /** Stored decimals: the digits before and after the point. */
  decimalIntegerDigitsMax: 24,
  decimalFractionDigitsMax: 12,

  partnerNameCharactersMax: 512,
  idempotencyKeyCharactersMax: 255,
  idempotencyHours: 24,
  /** Expired idempotency keys removed with each create: more than one is added, so the table cannot grow forever. */
  idempotencySweepRows: 20,
  requestIdCharactersMax: 128,

  keyNameCharactersMax: 100,
  /** Keys of an account that are valid at once: one for every integration, and then some. */
  keysValidMax: 1_000,
  /** Keys of an account in all. Beyond, each new key takes the longest ended ones along. */
  keysStoredMax: 10_000,
  keysSweepRows: 20,
  /** How long the old key may go on beside the new one: longer is no rotation any more. */
  keyOverlapSecondsMax: 30 * 24 * 60 * 60,
  /** Of an audit record: what the client calls itself, and what a change was about. */
  auditTextCharactersMax: 500,
  /** How often what accounts did is written: their request log, usage and last use of keys. */
  activityFlushMs: 200,
  /** Rows of it in one statement: making one of 200 takes a millisecond or two, in which no request is answered. */
  activityWriteRows: 200,
  /** Characters of requests that are read for one statement: a millisecond or two, too. */
  activityWriteCharacters: 512 * 1024,
  /** Usage grows in place until then: the rarer it is written, the more requests share a row. */
  usageFlushMs: 5_000,
  /** How long the last of it may take to be written when the process ends. */
  activityCloseMsMax: 5_000,
  /** Requests that wait to be logged, of all accounts and of one, and their texts. What comes beyond is only counted. */
  requestLogWaitingRows: 1_000,
  requestLogWaitingAccountRows: 500,
  requestLogWaitingCharacters: 8 * 1024 * 1024,
  /** The request log of an account: days, rows, and characters of each text in it. */
  requestLogDays: 14,
  requestLogRowsMax: 100_000,
  requestLogTextCharacters: 2_000,
  /** Of the parameters of a request, what is read for its log: a column full, each character written as three escapes. */
  requestLogReadCharacters: 20_000,
  /** Rows an account may be beyond its bound until they are removed: finding the bound reads all of them. */
  logTrimRows: 1_000,
  /** Accounts whose rows are counted up to the next removal, and that one removal by age looks at. */
  logTrimAccounts: 10_000,
  logSweepAccounts: 200,
  logSweepMs: 60_000,
  /** Sums that wait to be written, one for each key, route and minute. */
  usageWaitingRows: 50_000,
  /** Processes whose last batch a row of usage keeps, 16 bytes each: more than run at once, so that none is added twice. */
  usageWritersMax: 32,
  usageMinuteDays: 2,
  usageDayDays: 400,
  usageRowsMax: 100_000,
  /** Latencies are counted in classes, each so much wider than the one before: a percentile is within 5 %. */
  latencyBucketFirstMs: 0.05,
  latencyBucketRatio: 1.1,
  latencyBucketsMax: 172,
  /** Keys whose use today is known to be written. */
  keyUsesCached: 100_000,

  /** Accounts that a command prints: a screen of them, or as many as a script asks for at a time. */
  commandRowsDefault: 100,
  commandRowsMax: 10_000,
  accountsBatchRows: 1_000,
  /** Counting reads every record. Unasked, doctor reads no more than this, which takes some seconds. */
  doctorAccountsDefaultMax: 100,
  doctorRecordsDefaultMax: 1_000_000,

  /** Accepted keys whose account id is cached, some 250 bytes each. Others cost one statement more. */
  keyAccountsCached: 100_000,

  /** Questions of one check statement, statements under way at once, and requests that may wait to ask. */
  verificationBatchMax: 500,
  verificationsInFlightMax: 2,
  verificationsWaitingMax: 1_000,
  /** Requests that were understood twice: a plan and its texts, some 2 KB each, of a long filter 20. */
  plansCached: 5_000,
  /** Places in the table of those that were understood once, of 4 bytes each. */
  planAdmissionSlots: 64 * 1024,
  planTextCharactersMax: 1_000,
  /** Answers kept ready to send, and the largest that is. */
  responseCacheBytesMax: 64 * 1024 * 1024,
  cachedResponseBytesMax: 4 * 1024 * 1024,
  /** Answers that were not kept, and would be when they are asked for again: 4 bytes each. */
  responseAdmissionSlots: 64 * 1024,
  /** How much garbage may pile up on what is kept before all of it is collected. */
  heapGarbageBytes: 40 * 1024 * 1024,
  /** Answers up to this long are kept as text, longer ones as bytes. */
  textResponseCharactersMax: 16 * 1024,
  /** Below, compressing costs more than it saves. */
  gzipBytesMin: 1_024,
  /** Filters whose total and page ends are remembered; limits for each; ends for each, beyond which they thin out. */
  listsCached: 10_000,
  pageLimitsCached: 4,
  pageEndsCached: 4_000,

  /** Requests of an account and of one key in a minute, where the operator says nothing else: a thousand a second. */
  requestsPerMinute: 60_000,
  keyRequestsPerMinute: 30_000,
  requestsPerMinuteMax: 1_000_000_000,
  rateWindowMs: 60_000,
  /**
   * Accounts whose requests a process counts, some 500 bytes each; keys counted for each, as many as may be valid, and
   * for all of them, some 170 bytes each. Beyond, an account's further keys share one count, and the account that was
   * idle longest is counted anew.
   */
  rateAccountsTracked: 50_000,
  accountRateKeysTracked: 1_000,
  rateKeysTracked: 200_000,
  /**
   * What a process may count without telling the others: one part in so many of what is left, so that four processes
   * together stay within 5 %; and this long.
   */
  rateUnsyncedDivisor: 100,
  rateSyncMs: 1_000,
  /** Counts told to Redis in one script: a millisecond of its time. */
  rateSyncBatchMax: 500,
  /** Redis takes no longer to answer or to be connected to; then it is asked again, this often at least. */
  redisMsMax: 500,
  redisConnectMsMax: 2_000,
  redisRetryMsMax: 1_000,

  /** Statements kept prepared on every connection; how often a text must come for that, and texts counted meanwhile. */
  preparedStatementsMax: 100,
  preparedUsesMin: 3,
  preparedCandidatesMax: 1_000,
  /** After so many statements all counts are halved. */
  preparedDecayStatements: 10_000,

  /** Connections that quick statements share, one behind the other, and how many may be under way on one. */
  pipelinedConnections: 3,
  pipelinedStatementsMax: 500,
  /** Statements of one event-loop iteration that share a connection, so that they wake one backend. */
  pipelinedBatchStatements: 8,
  /** Records of a page that is quick: some 0.3 ms. */
  pipelinedRecordsMax: 100,
  /** Records of an account among which a filter is looked for by one plan for all, and conditions that make it quick. */
  smallAccountRecordsMax: 500,
  pipelinedConditionsMax: 4,

  /** A read that PostgreSQL has not finished by then is cancelled: 504. */
  readMsMax: 10_000,
  /** A read that nobody waits for any more may end by itself for this long: to cancel it takes PostgreSQL a process. */
  cancelAfterMs: 50,
  /** A read that goes on so long after its deadline, because PostgreSQL does not cancel it, is answered without it. */
  readGraceMs: 1_000,
  /** A quick statement: some ms. PostgreSQL cancels one that takes this long, because all others wait behind it. */
  pipelinedMsMax: 2_000,
  /** No answer at all on a shared connection, or none to be had: it is closed, and what waits on it fails with 503. */
  pipelinedSilenceMsMax: 2_500,
  pipelinedCheckMs: 250,
  /** After that silence, for the next connection: whoever waits for it has waited before, and shall not for 5 s in all. */
  reconnectSilentMsMax: 1_000,
  /** A write waits this long for the row that orders its account's writes, then gives up before having written: 503. */
  writeLockMsMax: 2_500,
  /** A write is answered within this time, if only by saying that its outcome is not known. It is never cancelled. */
  writeMsMax: 4_500,
  /** A connection to a server is opened, and has said which server it leads to, within this time. */
  connectMsMax: 3_000,
  /** A server that has not answered by then does not keep the other servers of the URL from being tried, again and again. */
  nextServerDelayMs: 300,
  /** One that has been awaited so much longer than it took another to be opened leads to a silent server: it is opened anew. */
  connectLagMsMax: 500,
  /** An idle connection is probed by TCP after this time: a machine that vanished sends nothing. */
  keepAliveMs: 5_000,
  /** How often a new connection is opened, to see which server is the primary. */
  primaryCheckMs: 1_000,
  /** After a failure to connect, further tries fail at once for this long, doubled each time up to the second. */
  reconnectMsMin: 50,
  reconnectMsMax: 500,
  /** Waiting for a connection that others use, then 503: of long reads, of writes. Writes are short. */
  readWaitMsMax: 5_000,
  writeWaitMsMax: 1_500,
  /** A connection of a pool that nobody uses is closed after this time. */
  poolIdleMsMax: 10_000,
  /** Requests that may wait for a connection; beyond, 503 at once. */
  poolWaitingMax: 1_000,
  /**
   * Requests that wait for their check or a quick statement: while there are so many, or fewer but the first of them has
   * waited so long, new ones get 503. Below the least number none is refused.
   */
  requestsWaitingMax: 200,
  requestsWaitingMin: 50,
  requestsWaitingMsMax: 100,
  /**
   * Long reads of an account at once, how many more of it may wait for their turn, and how many of all
   * there may be: with half of them under way, new filters are refused before they are looked at.
   */
  accountReadsMax: 2,
  accountReadsWaitingMax: 20,
  readsInFlightMax: 200,
  /**
   * Writes of an account at once: while one commits, the next waits for its lock already. How many more of it may wait,
   * and how long, some 2 ms for each write before it; and writes of all accounts, some 20 KB each.
   */
  accountWritesMax: 2,
  accountWritesWaitingMax: 200,
  accountWriteWaitMsMax: 2_000,
  writesInFlightMax: 1_000,
  /** Lines of one kind of failure in so much time; the others are counted, and the count is a line. */
  failureLinesMax: 10,
  failureLinesMs: 10_000,
  /** The log is written in pieces of this size or this often; beyond what may wait to be written, lines are dropped. */
  logChunkBytes: 16 * 1024,
  logFlushMs: 200,
  logWaitingBytesMax: 8 * 1024 * 1024,
  /** Combinations of labels that one metric may have. The largest has some 200: routes, methods and statuses. */
  metricSeriesMax: 2_000,
  /** Spans that wait to be sent, beyond which they are dropped; those sent together, and how long that may take. */
  spansWaitingMax: 2_048,
  spansBatchMax: 512,
  traceExportMsMax: 3_000,
  /** How long one look at the database serves all who ask whether the process is ready. */
  readinessCacheMs: 1_000,
  /** Connections to the admin port: a few Prometheus, and a person. */
  adminConnectionsMax: 20,
  /** Whether the database is there is said within this time where it is asked for metrics: a scrape has 10 s. */
  adminReadyMsMax: 2_000,

  /** Load balancers look at `/readyz` every few seconds: until then they send requests, which are still served. */
  shutdownDelayMs: 5_000,
  /** How long requests under way may take to end after the port was closed. */
  shutdownMsMax: 15_000,
  /** How often it is looked for connections that are done. */
  idleConnectionSweepMs: 100,
  /** A client that sends its headers, or its whole request, slower than this is cut off; looked after this often. */
  headersReceiveMsMax: 10_000,
  requestReceiveMsMax: 30_000,
  connectionsCheckMs: 100,
  /** A connection without a request: longer than the 60 s that proxies keep theirs, so that they close first. */
  idleConnectionMsMax: 72_000,
  /** A connection without a byte either way, beyond the time that an answer takes: its client does not read it. */
  silentConnectionMsMax: 60_000,
  /** What a client still sends after it was told that it is too much is thrown away for this long, then cut off. */
  lingerMs: 2_000,
  /** Connections that the kernel holds until they are taken: those beyond are tried again by it after a second. */
  listenBacklog: 4_096,
  /** Connections of a process, some 20 KB each; beyond, new ones are closed at once. */
  connectionsMax: 10_000,

  /**
   * Exports under way in a process, each with a connection of its own, and of one account among them. The second of an
   * account leaves at least one free for others.
   */
  exportsInFlightMax: 4,
  accountExportsMax: 2,
  /** Exports that wait for a slot, one of each account, and how long. */
  exportsWaitingMax: 20,
  exportWaitMsMax: 10_000,
  /**
   * While others wait, it is looked this often for exports whose readers took less than so many bytes a second, in at
   * least this time: they lose their slots. A reader at half a megabit a second is faster.
   */
  exportCheckMs: 500,
  exportReaderWindowMs: 2_000,
  exportReaderBytesPerSecondMin: 64 * 1024,
  /** An export holds its snapshot, and with it what vacuum could clear away: 10,000,000 records at 6,000 a second. */
  exportMsMax: 30 * 60 * 1000,
  /** Neither a record from the database nor a reader for it within this time: the export is cut. */
  exportStallMsMax: 60_000,
  /** Values of an export's filter that one statement hands over; PostgreSQL takes 1,664 columns in a select list. */
  exportSettingsBatchMax: 1000,
  /** Values that an export reads for every record, some 0.5 µs each, so that the planner knows them; the rest are read once. */
  exportDirectValuesMax: 32,

  /** A migration waits this long for a lock, and with it every request for the table; between tries those pass. */
  migrateLockMsMax: 2_000,
  /** Tries to get the lock, and the pauses between them, which double: two to three minutes in all. */
  migrateTriesMax: 20,
  migrateRetryMsMin: 500,
  migrateRetryMsMax: 10_000,
  /** How often it is looked what a migration waits for. */
  migratePollMs: 100,

  /** Rows of an import that are written, and tick the tally, together: about half a second of the account's write lock. */
  importBatchRows: 10_000,
  /** One line of an import file. */
  importLineBytesMax: 1024 * 1024,
} as const
