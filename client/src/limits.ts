/** Every limit of the client, with its unit in the name and its reason. */
export const limits = {
  /** Timeout of one attempt, including reading the response: longer than the service's own read timeout, 10 s. */
  attemptMs: 30_000,
  /** How long a request is retried: longer than a restart of the service or a failover of its database. */
  retryForMs: 60_000,
  /** Upper bounds of the random backoff before the first retry, and before any retry. */
  backoffFirstMs: 200,
  backoffMsMax: 5_000,
  /** A list whose path and query string are longer is sent as QUERY. Common proxies accept 8 KB, the service 16 KB. */
  urlBytesMax: 4_096,
  /** Records per page when iterating: the maximum of the service. */
  iterationPageRecords: 1_000,
  /** Pages in a window of ids. The service reads up to 20,000 matches and their total in one query. */
  idWindowPages: 16,
  /** The same while others write: then every page begins a new window, and counting the rest of a large one is wasted. */
  idWindowPagesDuringWrites: 2,
  /** Factor by which a window grows if the last one had less than a page: eight steps exceed the largest id. */
  idWindowGrowth: 64,
  /** Seconds that a request of `watch` and `sync` waits for changes: below the service's maximum of 30, and below the timeouts of proxies. */
  waitSeconds: 25,
  /** Changes of a page, and so of a batch of `sync`: the maximum of the service. */
  changesPageRecords: 1_000,
  /** Random bytes in the mark of a walk: so many that no two walks of a copy have the same, few enough for a column. */
  walkBytes: 8,
  /** Rows and characters of a batch that `upsert` sends, and keeps until it is confirmed; and the timeout of one attempt. */
  upsertRows: 5_000,
  upsertCharacters: 4 * 1024 * 1024,
  upsertAttemptMs: 120_000,
  /** How far the clocks of service and receiver may differ: older messages may be recordings of an attacker. */
  webhookToleranceSeconds: 300,
  /** Signatures of a message: the service sends up to three, one for each secret. */
  webhookSignaturesMax: 10,
  /** Bytes of a request to `handleWebhook`: four times the largest message. */
  webhookBytesMax: 1024 * 1024,
  /** Random bytes of an `Idempotency-Key`. */
  idempotencyKeyBytes: 16,
  /** Characters of a filter that an error message shows around the wrong part. */
  excerptCharacters: 72,
  /** Default capacity of a MemoryCache. */
  cacheCharactersMax: 16 * 1024 * 1024,
} as const
