"""Every limit of the client, with its unit in the name and its reason."""

#: Timeout of one attempt, including reading the response: longer than the service's own read timeout, 10 s.
ATTEMPT_SECONDS = 30.0
#: How long a request is retried: longer than a restart of the service or a failover of its database.
RETRY_SECONDS = 60.0
#: Upper bounds of the random backoff before the first retry, and before any retry.
BACKOFF_FIRST_SECONDS = 0.2
BACKOFF_SECONDS_MAX = 5.0
#: A list whose path and query string are longer is sent as QUERY. Common proxies accept 8 KB, the service 16 KB.
URL_BYTES_MAX = 4_096
#: Records per page when iterating: the maximum of the service.
ITERATION_PAGE_RECORDS = 1_000
#: Pages in a window of ids. The service reads up to 20,000 matches and their total in one query.
ID_WINDOW_PAGES = 16
#: The same while others write: then every page begins a new window, and counting the rest of a large one is wasted.
ID_WINDOW_PAGES_DURING_WRITES = 2
#: Factor by which a window grows if the last one had less than a page: eight steps exceed the largest id.
ID_WINDOW_GROWTH = 64
#: Ids are below 2^53.
ID_MAX = 2**53 - 1
#: Seconds that a request of `watch` and `sync` waits for changes: below the service's maximum of 30, and below the timeouts of proxies.
WAIT_SECONDS = 25
#: Changes of a page, and so of a batch of `sync`: the maximum of the service.
CHANGES_PAGE_RECORDS = 1_000
#: Random bytes in the mark of a walk: so many that no two walks of a copy have the same, few enough for a column.
WALK_BYTES = 8
#: Rows and bytes of a batch that `upsert` sends, and keeps until it is confirmed; and the timeout of one attempt.
UPSERT_ROWS = 5_000
UPSERT_BYTES = 4 * 1024 * 1024
UPSERT_ATTEMPT_SECONDS = 120.0
#: How far the clocks of service and receiver may differ: older messages may be recordings of an attacker.
WEBHOOK_TOLERANCE_SECONDS = 300
#: Signatures of a message: the service sends up to three, one for each secret.
WEBHOOK_SIGNATURES_MAX = 10
#: Bytes of a request to a receiver of webhooks: four times the largest message.
WEBHOOK_BYTES_MAX = 1024 * 1024
#: Random bytes of an `Idempotency-Key`.
IDEMPOTENCY_KEY_BYTES = 16
#: Characters of a filter that an error message shows around the wrong part.
EXCERPT_CHARACTERS = 72
#: Default capacity of a MemoryCache.
CACHE_BYTES_MAX = 16 * 1024 * 1024
#: Connections that are kept open for later calls.
IDLE_CONNECTIONS_MAX = 8
#: Bytes that are read from a connection at once.
READ_BYTES = 64 * 1024
