import { filterBounds } from '@quartermaster/filter'
import { bulkLimits } from './bulk-limits.ts'
import { connectionLimits } from './connection-limits.ts'
import { erasureLimits } from './erasure-limits.ts'
import { fieldLimits } from './field-limits.ts'
import { operatorLimits } from './operator-limits.ts'
import { scanLimits } from './scan-limits.ts'
import { summaryLimits } from './summary-limits.ts'

/**
 * The limits of the service that are constants, with the unit in the name and the reason in a comment. Those that a test can replace
 * are in `passed-limits.ts`. A size, time or count that can grow and has no limit in one of the two is a defect.
 */
export const limits = {
  /** Changes of a page of the feed by default; the maximum is that of a list. */
  feedPageChangesDefault: 100,
  /** Records that a page with a filter examines, about 2 µs each: a filter may match none of a million changed records. */
  feedScanRecordsMax: 10_000,
  /** The longest `wait`: proxies close a connection without traffic after 60 s. */
  feedWaitSecondsMax: 30,

  /** Timeout to send metrics over OTLP, and to send the last ones at exit. */
  metricExportMsMax: 3_000,

  /** Webhooks of an account: each one reads all changes again. */
  webhooksMax: 20,
  /** A webhook is sent to port 443, or to ports from here on: lower ones belong to other protocols, such as SMTP. */
  webhookPortMin: 1024,
  webhookUrlCharactersMax: 2048,
  /** The master key of webhook secrets: 32 random characters have more entropy than anybody can guess. */
  webhookMasterKeyCharactersMin: 32,
  /** Changes of one message. */
  webhookChangesMax: 100,
  /** An endpoint that fails for this long is paused. Svix uses the same time. */
  webhookFailingDaysMax: 5,
  /** How long the previous secret signs, too, after a rotation. */
  webhookRotationHours: 24,
  /** Endpoints of one statement of the sweep that finds undelivered changes: it takes 4 ms. */
  webhookSweepRows: 1_000,
  /** The delivery log of an account: days, and rows. */
  deliveryLogDays: 14,
  deliveryLogRowsMax: 10_000,
  /** Challenges and test messages in the log of an account, trimmed by each: a loop of tests must not displace deliveries. */
  deliveryTestRowsMax: 1_000,

  // What one account may store. The operator can set other quotas for an account.
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

  /** A file with a secret, such as DATABASE_URL_FILE: far more than the longest URL needs. */
  secretFileBytesMax: 64 * 1024,

  /** Records of a page: default and maximum of the specification. */
  pageRecordsDefault: 10,
  pageRecordsMax: 1000,
  /** The highest page number: page × limit stays an exact integer. */
  pageNumberMax: 9_000_000_000_000,

  /** A URL including its query. Longer filters are sent with QUERY. */
  urlBytesMax: 16 * 1024,
  /** Request line and headers together, as Node counts them: the URL and the same again for headers. */
  headerBytesMax: 32 * 1024,
  /** A Link header: common HTTP clients accept 16 KB of headers in all. A longer one is omitted. */
  linkBytesMax: 4 * 1024,
  /** Files of the built console, and their bytes before compression, all held in memory: it has about 20 with 1.5 MB. */
  consoleFilesMax: 200,
  consoleBytesMax: 16 * 1024 * 1024,
  /** Files of the documentation that stay in memory: all of its pages and scripts, compressed by Brotli, have 3 MB. */
  siteBytesMax: 8 * 1024 * 1024,
  /** A Content-Type: the longest in use have about 80 characters. */
  contentTypeCharactersMax: 256,
  /** The body of a create: a name of 512 characters, each escaped in JSON as a surrogate pair, needs 6 KB. */
  createBodyBytesMax: 64 * 1024,
  /** The body of a QUERY: a filter of 64 KB with every byte percent-encoded, and the other parameters. */
  queryBodyBytesMax: 256 * 1024,

  /** A longer request waits for its account's share of the event loop before it is parsed, about 0.2 ms for each KB. */
  longRequestBytes: 2 * 1024,

  filterUrlBytesMax: 8 * 1024,
  /** The other limits of a filter are those of its parser. */
  filterBodyBytesMax: filterBounds.lengthMax,
  filterConditionsMax: filterBounds.conditionsMax,
  filterListValuesMax: filterBounds.listValuesMax,
  filterDepthMax: filterBounds.depthMax,
  /** `![]` with up to this number of values becomes index ranges, each an index scan; with more, one array test. */
  filterGapValuesMax: 16,
  /** Ranges of one condition that are scanned separately: the gaps between excluded values, and null. */
  filterDisjunctsMax: 18,
  /** Words of `search`, each a condition on every text field, and their characters. */
  searchWordsMax: 8,
  searchCharactersMax: 256,
  /** Characters of a date-time: the longest valid one, with nanoseconds and a time zone, has 35. */
  timestampCharactersMax: 35,
  /** Characters of a decimal literal, and its exponent: more than can be stored, less than `numeric` rejects. */
  decimalCharactersMax: 100,
  decimalExponentMax: 1000,
  /**
   * Errors listed in one response, their bytes, and additionally the bytes of their suggestions: the response to an invalid
   * request stays below 64 KB.
   */
  errorsListedMax: 50,
  errorsBytesMax: 40 * 1024,
  errorSuggestionsBytesMax: 16 * 1024,
  /** Characters of the client's input that an error message repeats. */
  errorEchoCharactersMax: 60,

  /** Integers are sent as JSON numbers, which most clients parse as doubles. */
  integerMax: Number.MAX_SAFE_INTEGER,
  /** Digits of a stored decimal before and after the decimal point. */
  decimalIntegerDigitsMax: 24,
  decimalFractionDigitsMax: 12,

  partnerNameCharactersMax: 512,
  idempotencyKeyCharactersMax: 255,
  idempotencyHours: 24,
  /** Expired idempotency keys deleted with each create. Each create adds one, so the table cannot grow without limit. */
  idempotencySweepRows: 20,
  /** If the ids of an account come from another system: the highest that it may assign. This service assigns those above. */
  externalIdMax: 2 ** 32 - 1,
  /** Lineages that a tally remembers: restarts and failovers that a cursor survives. */
  lineagesMax: 16,
  /** Changed or deleted records of one write for which before-images are stored: beyond, counting again is as fast. */
  imagesOfWriteMax: 1000,
  /** Before-images of an account's resource, and their age: cached totals that are older are rarely asked for again. */
  imagesMax: 10_000,
  imageMinutes: 15,
  /** Tombstones of an account's resource, and their age: a consumer of the change feed that was away longer starts again. */
  tombstonesMax: 1_000_000,
  tombstoneDays: 30,
  /** Both are trimmed by every write whose version is a multiple of this. */
  trimVersions: 16,
  /**
   * Accounts of a resource that a sweep visits for before-images, and for tombstones: accounts that write nothing more do not trim
   * their own. 1,000,000 accounts take a week.
   */
  journalSweepAccounts: 100,
  /** Rows that one trim deletes at most from each table, and those of the last of their versions. */
  trimRowsMax: 5000,
  /** Counting the rows takes 2 ms for before-images and 200 ms for tombstones, so it is done less often; in a bulk write, always. */
  countImagesVersions: 256,
  countTombstonesVersions: 65_536,
  requestIdCharactersMax: 128,

  keyNameCharactersMax: 100,
  /** Valid keys of an account: more than one per integration. */
  keysValidMax: 1_000,
  /** Keys of an account, including expired and revoked ones. Beyond, each new key deletes those that ended first, up to `keysSweepRows`. */
  keysStoredMax: 10_000,
  keysSweepRows: 20,
  /** How long the old key may stay valid after a rotation. A longer overlap would defeat the rotation. */
  keyOverlapSecondsMax: 30 * 24 * 60 * 60,
  /** Each text of an audit record: the User-Agent of the client, the description of the change. */
  auditTextCharactersMax: 500,
  /** Reads of the same kind by an operator: an export that runs every minute leaves one audit entry in this time. */
  auditReadsApartMs: 3_600_000,
  /** Rows of one such statement: building 200 rows blocks the event loop for 1 to 2 ms. */
  activityWriteRows: 200,
  /** Characters of request texts that are parsed for one such statement: also 1 to 2 ms. */
  activityWriteCharacters: 512 * 1024,
  /** Requests that wait to be logged: of all accounts, of one account, and their characters. Further ones are only counted. */
  requestLogWaitingRows: 1_000,
  requestLogWaitingAccountRows: 500,
  requestLogWaitingCharacters: 8 * 1024 * 1024,
  /** The request log of an account: days, rows, and characters of each text. */
  requestLogDays: 14,
  requestLogRowsMax: 100_000,
  requestLogTextCharacters: 2_000,
  /** Characters of a request's parameters that are parsed for the log: a full column with every character percent-encoded. */
  requestLogReadCharacters: 20_000,
  /** Rows beyond an account's limit before they are deleted: finding the limit reads all of its rows. */
  logTrimRows: 1_000,
  /** Accounts whose new rows are counted until the next deletion, and accounts checked by one deletion of expired rows. */
  logTrimAccounts: 10_000,
  logSweepAccounts: 200,
  logSweepMs: 60_000,
  /** Aggregates that wait to be written, one per key, route and minute. */
  usageWaitingRows: 50_000,
  /**
   * Processes whose last batch number a row of usage stores, 16 bytes each. More than run at the same time, so that no
   * batch is added twice.
   */
  usageWritersMax: 32,
  usageMinuteDays: 2,
  usageDayDays: 400,
  usageRowsMax: 100_000,
  /** Buckets of the latency histogram, each 10 % wider than the previous one: a percentile is exact within 5 %. */
  latencyBucketFirstMs: 0.05,
  latencyBucketRatio: 1.1,
  latencyBucketsMax: 172,
  /** Keys whose use on the current day is known to be recorded. */
  keyUsesCached: 100_000,

  /** Accounts or keys that a command lists: one screen by default; more for scripts. */
  commandRowsDefault: 100,
  commandRowsMax: 10_000,
  /** Accounts that `doctor` reads with one statement. */
  accountsBatchRows: 1_000,
  /** A difference between the clocks of a process and its database that `doctor` does not mention: NTP keeps it below 0.1 s. */
  clockSkewMsMax: 1_000,
  /** Accounts and records that `doctor` counts by default. Counting reads every record; 1,000,000 take several seconds. */
  doctorAccountsDefaultMax: 100,
  doctorRecordsDefaultMax: 1_000_000,

  /** Origins that an account allows: its shops and tools. Each has at most the length of the longest host name and what is around it. */
  corsOriginsMax: 20,
  corsOriginCharactersMax: 255,
  /** Allowed origins that a process knows, about 300 bytes each. Others need one more statement. */
  corsOriginsCached: 10_000,
  /** Lookups of one statement, and those that may wait for one: beyond, an origin counts as not allowed. */
  corsBatchMax: 500,
  corsLookupsWaitingMax: 2_000,
  /** How long a browser may cache the response to a preflight. An origin that was removed can send requests meanwhile, but not read responses. */
  corsPreflightSeconds: 600,

  /** Accepted keys whose account id is cached, about 250 bytes each. Other keys need one more statement. */
  keyAccountsCached: 100_000,

  /** Lookups of one key verification statement, such statements in flight, and requests that may wait for one. */
  verificationBatchMax: 500,
  verificationsInFlightMax: 2,
  verificationsWaitingMax: 1_000,
  /** Records that one statement reads. */
  recordBatchMax: 100,
  /** Such statements in flight for each resource. */
  recordBatchesInFlightMax: 3,
  /** Records that one statement creates, each in another account, and such statements in flight per resource. */
  createBatchRows: 50,
  createBatchesMax: 1,
  /** Plans cached from the second request on, about 2 KB each, 20 KB for a long filter. */
  plansCached: 5_000,
  /** Slots of the admission filter for requests seen once, 4 bytes each. */
  planAdmissionSlots: 64 * 1024,
  planTextCharactersMax: 1_000,
  /** The response cache, and the largest response that it caches. */
  responseCacheBytesMax: 64 * 1024 * 1024,
  cachedResponseBytesMax: 4 * 1024 * 1024,
  /** Slots of the admission filter that a full response cache uses: a response is cached on its second request. 4 bytes each. */
  responseAdmissionSlots: 64 * 1024,
  /** Garbage on top of the live heap before a full collection. */
  heapGarbageBytes: 32 * 1024 * 1024,
  /** Cached responses up to this length are stored as strings, longer ones as buffers. */
  textResponseCharactersMax: 16 * 1024,
  /** Rows from this size on, such as that of a long page, are not decoded. */
  longRowBytesMin: 16 * 1024,
  /** Compressing a smaller response costs more than it saves. */
  gzipBytesMin: 1_024,
  /** Filters whose total and page ends are cached, and page ends for each. */
  listsCached: 10_000,
  pageEndsCached: 4_000,
  /** Sorted lists and their page ends, each with a value of up to 512 characters. */
  sortedListsCached: 500,
  sortedEndsCached: 256,
  /** Changed records, and before-images, across which a total is carried: 8 ms; counting 500,000 matches takes 80 ms. */
  carriedChangesMax: 1000,
  carriedImagesMax: 2000,

  /** Default requests per minute of an account and of a key: 1,000 and 500 per second. */
  requestsPerMinute: 60_000,
  keyRequestsPerMinute: 30_000,
  requestsPerMinuteMax: 1_000_000_000,
  rateWindowMs: 60_000,
  /**
   * Accounts whose requests a process counts, about 500 bytes each; keys counted per account (the number that may be
   * valid), and keys of all accounts, about 170 bytes each. Beyond, further keys of an account share one count, and the
   * account that was idle longest is evicted: its count restarts at zero.
   */
  rateAccountsTracked: 50_000,
  accountRateKeysTracked: 1_000,
  rateKeysTracked: 200_000,
  /**
   * Requests that a process counts before it sends the count to Redis: the remaining ones divided by this, so that four
   * processes together stay within 5 % of the limit; and the longest delay.
   */
  rateUnsyncedDivisor: 100,
  rateSyncMs: 1_000,
  /** Counts sent to Redis in one script call, which takes Redis 1 ms. */
  rateSyncBatchMax: 500,
  /** Redis: response timeout, connection timeout, and the longest delay between two connection attempts. */
  redisMsMax: 500,
  redisConnectMsMax: 2_000,
  redisRetryMsMax: 1_000,

  /** Timeout of `doctor` for a request to Patroni. */
  patroniMsMax: 2_000,

  ...connectionLimits,

  /**
   * Requests that start in one iteration of the event loop. While connections arrive, one for every `acceptedPerRequest` of
   * them: Node accepts one in each iteration, so if iterations took 50 ms, 1,000 connections would wait for 50 s.
   */
  iterationRequestsMax: 32,
  acceptedPerRequest: 4,
  /**
   * Long reads of an account that run and that wait, and those of all accounts that wait. From half of the latter on, requests
   * with a filter get 503 before the filter is parsed, if their account has an equal share of the requests in flight.
   */
  accountReadsMax: 2,
  /** Connections for reads on which matches may be counted: pages and records are read on the others. An account has seats of each kind. */
  countConnectionsShare: 0.75,
  accountReadsWaitingMax: 20,
  readsWaitingMax: 200,
  /**
   * Writes of an account in flight (while one commits, the next already waits for the lock) and queued; and writes of all
   * accounts, about 20 KB each.
   */
  accountWritesMax: 2,
  accountWritesWaitingMax: 200,
  writesInFlightMax: 1_000,
  /**
   * A 429 `account_busy`, and a 429 `export_limit` or `feed_limit`, is sent after half to one and a half times this time, so that
   * a client that repeats it at once cannot keep the process busy with rejections. Exports and streams end rarely, so the second is
   * longer. The number of responses that wait, about 20 KB each; further ones are sent at once.
   */
  busyResponseMs: 100,
  slotResponseMs: 2_000,
  busyResponsesHeldMax: 2_000,
  /** Log lines of one kind of failure per interval. Further ones are counted, and the count is logged. */
  failureLinesMax: 10,
  failureLinesMs: 10_000,
  /** The log is written in chunks of this size, or at this interval. Lines beyond the buffer limit are dropped. */
  logChunkBytes: 16 * 1024,
  logFlushMs: 200,
  logWaitingBytesMax: 8 * 1024 * 1024,
  /** Label combinations of a metric. The largest metric has about 200: routes, methods and statuses. */
  metricSeriesMax: 2_000,
  /** Buffered spans, beyond which spans are dropped; spans per batch. */
  spansWaitingMax: 2_048,
  spansBatchMax: 512,
  /** Connections to the admin port: several Prometheus servers and a person. */
  adminConnectionsMax: 20,
  /** Timeout of the readiness check for `/metrics`: a scrape has 10 s. */
  adminReadyMsMax: 2_000,

  /** How long requests are served after `/readyz` has become 503: load balancers poll it at intervals of seconds. */
  shutdownDelayMs: 5_000,
  /** Keep-alive timeout: longer than the 60 s that proxies use, so that the proxy closes first. */
  idleConnectionMsMax: 72_000,
  /** After a 413 or 414, what the client still sends is discarded for this long before the connection is closed. */
  lingerMs: 2_000,
  /** Workers of `serve --processes`: each needs about 200 MB, and usage rows store the last batches of `usageWritersMax` processes. */
  processesMax: 32,
  /** Delay before a worker that has exited is replaced. It doubles with each exit, until one has run for `workerStableMs`. */
  workerBackoffMsMin: 100,
  workerBackoffMsMax: 10_000,
  workerStableMs: 60_000,
  /** A worker's reply to the primary, such as its metrics: longer than `adminReadyMsMax`, and a scrape has 10 s. */
  workerReplyMsMax: 3_000,
  /** A stopping worker that is still running this long after the shutdown delay is killed: the sum of its other timeouts and 5 s. */
  workerExitMsMax: 25_000,
  /** Log chunk of a worker: Linux does not interleave writes of several processes to a pipe up to 4096 bytes (PIPE_BUF). */
  workerLogChunkBytes: 4_096,
  /** Timeout of `systemd-notify`. */
  systemdNotifyMsMax: 5_000,

  /** Timeout of an export. Its snapshot prevents VACUUM from removing dead rows. Enough for 10,000,000 records at 6,000 per second. */
  exportMsMax: 30 * 60 * 1000,
  /** Filter values of an export that one statement sets; PostgreSQL allows 1,664 columns in a select list. */
  exportSettingsBatchMax: 1000,
  /** Filter values that an export evaluates per record, about 0.5 µs each, so that the planner sees them; the others are evaluated once. */
  exportDirectValuesMax: 32,

  /** A migration waits this long for a lock, and every request for the table waits behind it; they proceed between two attempts. */
  migrateLockMsMax: 200,
  /** Attempts to get the lock, and the delays between them, which double: four minutes in all, of which requests wait 12 s at most. */
  migrateTriesMax: 60,
  migrateRetryMsMin: 500,
  migrateRetryMsMax: 5_000,
  /** Interval at which `migrate` reads which sessions block it. */
  migratePollMs: 100,

  /** Interval at which a process reads which server has which accounts, if they are on several. */
  placementsMs: 1_000,
  /** Parts into which a table is divided. A statement over all accounts has a task for each. */
  shardsMax: 1_024,

  ...bulkLimits,
  ...erasureLimits,
  ...fieldLimits,
  ...operatorLimits,
  ...scanLimits,
  ...summaryLimits,
} as const
