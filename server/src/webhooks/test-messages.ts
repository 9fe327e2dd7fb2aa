import { Failure } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import { FairScheduler } from '../scheduler/fair-scheduler.ts'
import type { AccountScope } from '../scope.ts'
import { type AddressGuard, SendError } from './address-guard.ts'
import type { LogEntry } from './delivery-statements.ts'
import { challengeMessage, echoes, newChallenge, secretsOf, testMessage } from './messages.ts'
import type { Sender } from './sender.ts'
import type { MasterKeys, SignedMessage } from './signature.ts'
import { deliveredVersion, positionOf, unverified, type Webhook } from './webhook.ts'

export interface TestMessagesOptions {
  /** Undefined if webhooks are not configured. */
  readonly masterKeys: MasterKeys | undefined
  readonly guard: AddressGuard
  readonly sender: Sender
  readonly limits: Limits
  /** Aborted when the process shuts down. */
  readonly shutdown: AbortSignal
}

/** What an administrator can send to a receiver, and what is needed to do so: its secret, and a valid URL. */
export class TestMessages {
  readonly #options: TestMessagesOptions
  readonly #scheduler: FairScheduler

  constructor(options: TestMessagesOptions) {
    this.#options = options
    this.#scheduler = new FairScheduler({
      seats: options.limits.webhookTestsInFlightMax,
      accountSeats: options.limits.accountWebhookTestsInFlightMax,
      waitingMax: 0,
      accountWaitingMax: 0,
      waitMsMax: 0,
      busy: () => new Failure('account_busy', 'This account is already testing webhooks. Try again shortly.'),
    })
  }

  /** Throws if this service cannot send webhooks. */
  get masterKeys(): MasterKeys {
    const { masterKeys } = this.#options
    if (masterKeys !== undefined) return masterKeys
    throw new Failure(
      'webhooks_unavailable',
      'QUARTERMASTER_WEBHOOK_SECRET is not set, so webhooks cannot be signed.',
    )
  }

  /** The current secret. */
  secretOf(scope: AccountScope, webhook: Webhook): string {
    return this.#secretsOf(scope, webhook)[0] ?? ''
  }

  #secretsOf(scope: AccountScope, webhook: Webhook): string[] {
    const secrets = secretsOf(this.masterKeys, scope, webhook)
    if (secrets.length > 0) return secrets
    throw new Failure(
      'webhooks_unavailable',
      "This webhook's secret is derived from a master key that the service no longer has. Rotate the secret and configure the " +
        'receiver with the new one, or ask the operator to set QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS to that key.',
    )
  }

  /** Returns why webhooks cannot be sent to this URL; undefined if they can. */
  urlFault(url: string): string | undefined {
    try {
      this.#options.guard.parse(url)
      return undefined
    } catch (error) {
      if (error instanceof SendError) return error.message
      throw error
    }
  }

  /** Sends a random text, which the receiver must return, so that no one makes the service send to a stranger. */
  async challenge(scope: AccountScope, webhook: Webhook): Promise<LogEntry & { readonly problem?: string }> {
    const challenge = newChallenge()
    const message = challengeMessage(webhook, challenge)
    const { entry, body, problem } = await this.#send(scope, webhook, 'challenge', message)
    if (problem !== undefined) return { ...entry, problem }
    if (echoes(body, challenge)) return entry
    const text = `The receiver responded with ${entry.status}, but not with the challenge as its body.`
    return { ...entry, error: 'challenge', problem: text }
  }

  /** Only to a URL that has returned a challenge: otherwise a key could make the service send any number of messages to a stranger. */
  async test(scope: AccountScope, webhook: Webhook): Promise<LogEntry> {
    if (webhook.status === 'pending') throw unverified('Test messages are sent only to a verified URL.')
    return (await this.#send(scope, webhook, 'test', testMessage(webhook))).entry
  }

  async #send(
    scope: AccountScope,
    webhook: Webhook,
    kind: 'challenge' | 'test',
    message: SignedMessage,
  ): Promise<{ entry: LogEntry; body: string; problem: string | undefined }> {
    const { sender, shutdown } = this.#options
    const secrets = this.#secretsOf(scope, webhook)
    const seat = await this.#scheduler.acquire(scope, shutdown)
    const startedAt = performance.now()
    const version = deliveredVersion(positionOf(webhook))
    const entryOf = (status: number | null, error: string | null): LogEntry => ({
      messageId: message.id,
      kind,
      changes: 0,
      fromVersion: version,
      toVersion: version,
      status,
      error,
      ms: performance.now() - startedAt,
    })
    try {
      const { status, body } = await sender.send(webhook.url, message, secrets, shutdown)
      if (status >= 200 && status < 300) return { entry: entryOf(status, null), body, problem: undefined }
      return { entry: entryOf(status, 'status'), body, problem: `The receiver responded with ${status}.` }
    } catch (error) {
      if (!(error instanceof SendError)) throw error
      return { entry: entryOf(null, error.code), body: '', problem: error.message }
    } finally {
      seat.release()
    }
  }
}
