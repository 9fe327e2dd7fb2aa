import { accountNamed } from '../../accounts/directory.ts'
import type { ResourceName } from '../../catalog/resources.ts'
import type { Config } from '../../config/config.ts'
import { limits } from '../../limits/limits.ts'
import { defaultLimits } from '../../limits/passed-limits.ts'
import { parseNetworks } from '../../networks.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { AddressGuard } from '../../webhooks/address-guard.ts'
import { logTest } from '../../webhooks/delivery-statements.ts'
import {
  activateWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  pauseWebhook,
  replayWebhook,
  rotateWebhook,
  type Start,
} from '../../webhooks/endpoints.ts'
import { Sender } from '../../webhooks/sender.ts'
import { masterKeysOf } from '../../webhooks/signature.ts'
import { TestMessages } from '../../webhooks/test-messages.ts'
import { type Webhook, webhookJson } from '../../webhooks/webhook.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { note, printJson, printLine, printTable } from '../print.ts'
import type { JsonOption } from './account-command.ts'
import { changeAccount } from './change-account.ts'

export interface WebhookOptions extends JsonOption {
  readonly account: string
}

export interface CreateWebhookOptions extends WebhookOptions {
  readonly resource: ResourceName
  readonly url: string
  readonly filter?: string
  readonly fields?: string
  readonly since: Start
}

export async function webhookList(config: Config, options: WebhookOptions): Promise<void> {
  const found = await changeAccount(config, options.account, 'webhook', listWebhooks)
  if (options.json === true) {
    printJson({ account: options.account, webhooks: found.map(webhookJson) })
    return
  }
  const rows = found.map((webhook) => {
    const { id, resource, status, reason, delivered_version, failures, url } = webhookJson(webhook)
    const state = reason === null ? status : `${status} (${reason})`
    return [id, state, resource, String(delivered_version), String(failures), url]
  })
  if (rows.length > 0) printTable(['ID', 'STATUS', 'RESOURCE', 'VERSION', 'FAILURES', 'URL'], rows)
  else note(`${options.account} has no webhooks.`)
}

export async function webhookCreate(config: Config, options: CreateWebhookOptions): Promise<void> {
  const { account, resource, url, filter = null, fields = null, since } = options
  const messages = messagesOf(config)
  const { masterKeys } = messages
  const fault = messages.urlFault(url)
  if (fault !== undefined) throw new Error(fault)
  const parameters = { resource, url, filter, fields, start: since }
  await changeAccount(config, account, 'webhook', async (transaction, scope) => {
    const webhook = await createWebhook(transaction, scope, operator(), parameters, masterKeys)
    printSecret(messages.secretOf(scope, webhook), webhook, options)
  })
  if (options.json !== true)
    note(
      'Configure the receiver with this secret. Then run `quartermaster webhook resume` to activate the webhook.',
    )
}

export async function webhookRotate(config: Config, id: string, options: WebhookOptions): Promise<void> {
  const messages = messagesOf(config)
  const { masterKeys } = messages
  await changeAccount(config, options.account, 'webhook', async (transaction, scope) => {
    const webhook = await rotateWebhook(transaction, scope, operator(), id, masterKeys)
    printSecret(messages.secretOf(scope, webhook), webhook, options)
  })
  if (options.json !== true) note(`The old secret keeps signing for ${limits.webhookRotationHours} hours.`)
}

/** Only the secret is written to stdout, so that a script can read it. */
function printSecret(secret: string, webhook: Webhook, { account, json }: WebhookOptions): void {
  if (json === true) {
    printJson({ account, secret, ...webhookJson(webhook) })
    return
  }
  printLine(secret)
  note(`Webhook ${webhook.id} of ${account}: ${webhook.resource} to ${webhook.url}; ${webhook.status}.`)
}

export async function webhookPause(config: Config, id: string, options: WebhookOptions): Promise<void> {
  print(
    await changeAccount(config, options.account, 'webhook', (transaction, scope) =>
      pauseWebhook(transaction, scope, operator(), id),
    ),
    options,
  )
}

/** Sends the challenge from this machine. */
export async function webhookResume(config: Config, id: string, options: WebhookOptions): Promise<void> {
  const messages = messagesOf(config)
  const webhook = await changeAccount(config, options.account, 'webhook', (transaction, scope) =>
    getWebhook(transaction, scope, id),
  )
  const activated = await asOwner(config, async (client) => {
    const scope = await accountNamed(client, options.account)
    const { problem, ...entry } = await messages.challenge(scope, webhook)
    return await inTransaction(client, async (transaction) => {
      await logTest(transaction, { ...scope, id }, entry)
      if (problem === undefined)
        return await activateWebhook(transaction, scope, operator(), webhook, messages.masterKeys)
      return problem
    })
  })
  if (typeof activated === 'string') throw new Error(`The webhook is not activated. ${activated}`)
  print(activated, options)
}

export async function webhookTest(config: Config, id: string, options: WebhookOptions): Promise<number> {
  const messages = messagesOf(config)
  const entry = await asOwner(config, async (client) => {
    const scope = await accountNamed(client, options.account)
    const webhook = await inTransaction(client, (transaction) => getWebhook(transaction, scope, id))
    const sent = await messages.test(scope, webhook)
    await inTransaction(client, (transaction) => logTest(transaction, { ...scope, id }, sent))
    return sent
  })
  const { status, error, ms } = entry
  if (options.json === true) printJson({ account: options.account, id, status, error, duration_ms: ms })
  else if (status === null) printLine(`There was no response: ${error}.`)
  else printLine(`The receiver responded with ${status} after ${Math.round(ms)} ms.`)
  return error === null ? 0 : 1
}

export async function webhookReplay(
  config: Config,
  id: string,
  options: WebhookOptions & { readonly since: Start },
): Promise<void> {
  print(
    await changeAccount(config, options.account, 'webhook', (transaction, scope) =>
      replayWebhook(transaction, scope, operator(), id, options.since),
    ),
    options,
  )
}

export async function webhookDelete(config: Config, id: string, options: WebhookOptions): Promise<void> {
  await changeAccount(config, options.account, 'webhook', (transaction, scope) =>
    deleteWebhook(transaction, scope, operator(), id),
  )
  if (options.json === true) printJson({ account: options.account, id, deleted: true })
  else printLine(`Webhook ${id} of ${options.account} was deleted.`)
}

function print(webhook: Webhook, { account, json }: WebhookOptions): void {
  if (json === true) printJson({ account, ...webhookJson(webhook) })
  else printLine(`Webhook ${webhook.id} of ${account} is ${webhook.status}.`)
}

function messagesOf(config: Config): TestMessages {
  const guard = new AddressGuard(parseNetworks(config.QUARTERMASTER_WEBHOOK_NETWORKS))
  return new TestMessages({
    masterKeys: masterKeysOf(
      config.QUARTERMASTER_WEBHOOK_SECRET,
      config.QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS,
    ),
    guard,
    sender: new Sender({ guard, limits: defaultLimits }),
    limits: defaultLimits,
    shutdown: new AbortController().signal,
  })
}
