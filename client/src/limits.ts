/** Every bound of the client, with its unit in the name and its reason beside it. */
export const limits = {
  /** What one attempt may take, answer included: longer than the service's own deadline for a read, 10 s. */
  attemptMs: 30_000,
  /** How long a request is tried again: a restart of the service or a failover of its database passes meanwhile. */
  retryForMs: 60_000,
  /** The first wait before another try, and the longest, each drawn at random up to this. */
  firstWaitMs: 200,
  waitMsMax: 5_000,
  /** A longer path and query goes by QUERY. Common proxies take 8 KB, the service 16. */
  urlBytesMax: 4_096,
  /** Records per page of a walk: what the service allows at most. */
  walkPageRecords: 1_000,
  /** A window of ids has room for so many pages: the service finds up to 20,000 matches and their total at once. */
  walkWindowPages: 16,
  /** While every page shows another version, each is the first of a window: what lies beyond it is counted for nothing. */
  walkWindowPagesBusy: 2,
  /** Where a window holds less than a page, the next is so many times as wide: eight of them reach beyond any id. */
  walkWindowGrowth: 64,
  /** Characters of a filter that an error shows around the place that is wrong. */
  excerptCharacters: 72,
  /** What a MemoryCache holds at most, unless told otherwise. */
  cacheCharactersMax: 16 * 1024 * 1024,
} as const
