/** The limits of webhooks, which are part of `limits`. */
export const webhookLimits = {
  /** A webhook is sent to port 443, or to ports from here on: lower ones belong to other protocols, such as SMTP. */
  webhookPortMin: 1024,
  webhookUrlCharactersMax: 2048,
  /** A request to a receiver, in all, as Standard Webhooks recommends; and what is read of its response: a challenge has 60 bytes. */
  webhookRequestMsMax: 15_000,
  webhookResponseBytesMax: 4 * 1024,
} as const
