import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountWrites } from '../../accounts/account-writes.ts'
import type { Actor } from '../../accounts/audit.ts'
import type { Access } from '../../accounts/verifications.ts'
import { views } from '../../catalog/views.ts'
import { Failure } from '../../errors/errors.ts'
import type { Transaction } from '../../postgres/database.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { type LogEntry, logTest } from '../../webhooks/delivery-statements.ts'
import {
  activateWebhook,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  pauseWebhook,
  replayWebhook,
  rotateWebhook,
} from '../../webhooks/endpoints.ts'
import type { TestMessages } from '../../webhooks/test-messages.ts'
import { type Webhook, webhookJson } from '../../webhooks/webhook.ts'
import { clientSignal } from '../client-signal.ts'
import { viewPath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf } from '../plugins/request-context.ts'
import { actorOf, rejectBody } from '../request/actor.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { changeOf, newWebhookOf, startOf } from '../request/webhook-body.ts'
import { sendCreated, sendUncached } from '../respond.ts'

export interface WebhookParts {
  readonly writes: AccountWrites
  readonly trustedProxies: BlockList
  readonly messages: TestMessages
}

type WebhookRequest = FastifyRequest<{ Params: { id: string } }>
type Handler = (request: WebhookRequest, reply: FastifyReply) => Promise<FastifyReply>

/** What a request needs to change a webhook. */
interface Administration {
  readonly access: Access
  readonly actor: Actor
  readonly id: string
  readonly write: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>
}

function administrationOf(
  request: WebhookRequest,
  reply: FastifyReply,
  { writes, trustedProxies }: WebhookParts,
): Administration {
  const access = accessFor(request, 'account:manage')
  parseNoParameters(rawQueryOf(request))
  contextOf(request).records = 1
  return {
    access,
    actor: actorOf(request, access, trustedProxies),
    id: request.params.id,
    write: (work) => writes.run(access, clientSignal(reply), (database) => database.write(work)),
  }
}

export function createWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, write } = administrationOf(request, reply, parts)
    const { messages } = parts
    // Rejects the request if webhooks are not configured.
    const { masterKeys } = messages
    const created = newWebhookOf(request, messages)
    const webhook = await write((transaction) =>
      createWebhook(transaction, access, actor, created, masterKeys),
    )
    const data = { ...webhookJson(webhook), secret: messages.secretOf(access, webhook) }
    const path = `${viewPath(views.webhook)}/${webhook.id}`
    return sendCreated(reply.header('cache-control', 'no-store'), path, JSON.stringify({ data }))
  }
}

export function changeWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    const change = changeOf(request, parts.messages)
    return sendWebhook(
      reply,
      await write((transaction) => changeWebhook(transaction, access, actor, id, change)),
    )
  }
}

export function deleteWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A deletion')
    await write((transaction) => deleteWebhook(transaction, access, actor, id))
    return reply.code(204).header('cache-control', 'no-store').send()
  }
}

export function pauseWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A pause')
    return sendWebhook(reply, await write((transaction) => pauseWebhook(transaction, access, actor, id)))
  }
}

/** Also resumes a webhook that was paused or disabled. */
export function activateWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'An activation')
    const webhook = await write((transaction) => getWebhook(transaction, access, id))
    const { problem, ...entry } = await parts.messages.challenge(access, webhook)
    const activated = await write(async (transaction) => {
      await logTest(transaction, { ...access, id }, entry)
      return problem === undefined
        ? activateWebhook(transaction, access, actor, webhook, parts.messages.masterKeys)
        : undefined
    })
    if (activated === undefined) throw new Failure('webhook_unverified', problem ?? '')
    return sendWebhook(reply, activated)
  }
}

export function rotateWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A rotation')
    const { masterKeys } = parts.messages
    const webhook = await write((transaction) => rotateWebhook(transaction, access, actor, id, masterKeys))
    const data = { ...webhookJson(webhook), secret: parts.messages.secretOf(access, webhook) }
    return sendUncached(reply, JSON.stringify({ data }))
  }
}

export function replayWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    const start = startOf(request)
    return sendWebhook(
      reply,
      await write((transaction) => replayWebhook(transaction, access, actor, id, start)),
    )
  }
}

/** The response says what happened. */
export function testWebhookRoute(parts: WebhookParts): Handler {
  return async (request, reply) => {
    const { access, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A test')
    const webhook = await write((transaction) => getWebhook(transaction, access, id))
    const entry = await parts.messages.test(access, webhook)
    await write((transaction) => logTest(transaction, { ...access, id }, entry))
    return sendUncached(reply, JSON.stringify({ data: testJson(entry) }))
  }
}

export function testJson({ messageId, status, error, ms }: LogEntry) {
  return { message_id: messageId, status, error, duration_ms: Math.round(ms * 10) / 10 }
}

function sendWebhook(reply: FastifyReply, webhook: Webhook): FastifyReply {
  return sendUncached(reply, JSON.stringify({ data: webhookJson(webhook) }))
}
