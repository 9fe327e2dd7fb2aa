/** The limits of webhooks, which are part of `limits`. */
export const webhookLimits = {
  /** Webhooks of an account: each one reads all changes again. */
  webhooksMax: 20,
  /** A webhook is sent to port 443, or to ports from here on: lower ones belong to other protocols, such as SMTP. */
  webhookPortMin: 1024,
  webhookUrlCharactersMax: 2048,
  /** The master key of webhook secrets: 32 random characters have more entropy than anybody can guess. */
  webhookMasterKeyCharactersMin: 32,
  /** A request to a receiver, in all, as Standard Webhooks recommends; and what is read of its response: a challenge has 60 bytes. */
  webhookRequestMsMax: 15_000,
  webhookResponseBytesMax: 4 * 1024,
  /** Changes of one message, and its bytes: receivers commonly accept bodies up to 1 MB. */
  webhookChangesMax: 100,
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
  /** An endpoint that fails for this long is paused. Svix uses the same time. */
  webhookFailingDaysMax: 5,
  /** How long the previous secret signs, too, after a rotation. */
  webhookRotationHours: 24,
  /** The sweep that finds undelivered changes: its interval, and endpoints of one statement, which takes 4 ms. */
  webhookSweepMs: 5_000,
  webhookSweepRows: 1_000,
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
  /** The delivery log of an account: days, rows, and rows beyond that number before they are deleted. */
  deliveryLogDays: 14,
  deliveryLogRowsMax: 10_000,
  deliveryTrimRows: 500,
  /** Challenges and test messages in the log of an account, trimmed by each: a loop of tests must not displace deliveries. */
  deliveryTestRowsMax: 1_000,
} as const
