import type { FastifyRequest } from 'fastify'
import { Failure } from '../../errors/errors.ts'
import { Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { type LogEntry, logTest } from '../../webhooks/delivery-statements.ts'
import {
  activateWebhook,
  getWebhook,
  pauseWebhook,
  replayWebhook,
  rotateWebhook,
  type Start,
} from '../../webhooks/endpoints.ts'
import { bodyContent, bodySchemas, jsonResponse, respondsWith } from '../openapi/parts.ts'
import { curl, type Sample, sendsJson } from '../openapi/samples.ts'
import { responseSchema } from '../openapi/schemas.ts'
import { contextOf } from '../plugins/request-context.ts'
import { addUnknownMembers, type BodyShape, jsonBody, rejectBody } from '../request/body.ts'
import { sendUncached } from '../respond.ts'
import { administrationOf } from './administration.ts'
import type { Route } from './route.ts'
import {
  sampleWebhookPath,
  secret,
  sendWebhook,
  since,
  startIn,
  tag,
  webhookPath,
  webhookResponse,
  withSecret,
} from './webhooks.ts'

/** `POST …/{id}/<action>`: what can be done with a webhook. */

const action = (name: string) => ({
  methods: ['POST'] as const,
  path: `${webhookPath}/${name}`,
  scopes: ['account:manage'] as const,
})
const operation = (name: string) => ({
  operationId: `${name}_webhook`,
  tag,
  parameters: ['webhookId'] as const,
})
const sample = (name: string, ...options: readonly string[]) =>
  curl(' -X POST', `${sampleWebhookPath}/${name}`, ...options)
/** Without a receiver, the response is 409: these samples do not fail then. */
const unverifiedSample = (name: string): Sample => {
  const { source, ...rest } = sample(name)
  return { ...rest, source: source.replace(' --fail-with-body', '') }
}

/** Also resumes a webhook that was paused or disabled. */
export const activateWebhookRoute: Route = {
  ...action('activate'),
  bodies: [],
  operation: {
    ...operation('activate'),
    summary: 'Activate a webhook',
    samples: [unverifiedSample('activate')],
    description:
      'Sends a signed message of the type `webhook.challenge` to the receiver, which must respond with `data.challenge` as its body. Also resumes a webhook that is paused or disabled; it continues where it stopped.',
    responses: {
      '200': webhookResponse,
      ...respondsWith('invalid', 'notFound', 'webhookConflict', 'webhooksUnavailable'),
    },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'An activation')
    const webhook = await write((transaction) => getWebhook(transaction, access, id))
    const { problem, ...entry } = await parts.webhooks.challenge(access, webhook)
    const activated = await write(async (transaction) => {
      await logTest(transaction, { ...access, id }, entry)
      return problem === undefined
        ? activateWebhook(transaction, access, actor, webhook, parts.webhooks.masterKeys)
        : undefined
    })
    if (activated === undefined) throw new Failure('webhook_unverified', problem ?? '')
    return sendWebhook(reply, activated)
  },
}

export const pauseWebhookRoute: Route = {
  ...action('pause'),
  bodies: [],
  operation: {
    ...operation('pause'),
    summary: 'Pause a webhook',
    samples: [unverifiedSample('pause')],
    description: 'Nothing is sent until the webhook is activated again. Its position does not change.',
    responses: { '200': webhookResponse, ...respondsWith('invalid', 'notFound', 'webhookConflict') },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A pause')
    return sendWebhook(reply, await write((transaction) => pauseWebhook(transaction, access, actor, id)))
  },
}

export const rotateWebhookRoute: Route = {
  ...action('rotate'),
  bodies: [],
  operation: {
    ...operation('rotate'),
    summary: "Rotate a webhook's secret",
    samples: [sample('rotate')],
    description: `Messages are signed with the new secret, and with the old one as well for ${limits.webhookRotationHours} hours.`,
    responses: {
      '200': secret.response,
      ...respondsWith('invalid', 'notFound', 'webhookConflict', 'webhooksUnavailable'),
    },
    schemas: secret.schemas,
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A rotation')
    const { masterKeys } = parts.webhooks
    const webhook = await write((transaction) => rotateWebhook(transaction, access, actor, id, masterKeys))
    contextOf(request).records = 1
    return sendUncached(reply, withSecret(access, webhook, parts.webhooks))
  },
}

const replayShape: BodyShape = {
  name: 'WebhookReplay',
  title: 'Webhook replay',
  members: { since },
  required: ['since'],
  what: 'A replay has since',
  example: '{"since":"beginning"}',
}

export const replayWebhookRoute: Route = {
  ...action('replay'),
  bodies: ['application/json'],
  operation: {
    ...operation('replay'),
    summary: 'Send changes again',
    samples: [sample('replay', sendsJson, `-d '${replayShape.example}'`)],
    description: 'Sets the position from which changes are sent, with the current records.',
    body: bodyContent(replayShape),
    responses: {
      '200': webhookResponse,
      ...respondsWith('invalid', 'notFound', 'webhookConflict', 'cursorExpired', 'tooLarge'),
    },
    schemas: bodySchemas(replayShape),
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    const start = startOf(request)
    const webhook = await write((transaction) => replayWebhook(transaction, access, actor, id, start))
    return sendWebhook(reply, webhook)
  },
}

function startOf(request: FastifyRequest): Start {
  const body = jsonBody(request, replayShape)
  const faults = new Faults()
  addUnknownMembers(body, replayShape, faults)
  const start = startIn(body['since'], faults)
  faults.throwIfAny('body_invalid')
  return start
}

/** The response says what happened. */
export const testWebhookRoute: Route = {
  ...action('test'),
  bodies: [],
  operation: {
    ...operation('test'),
    summary: 'Send a test message',
    samples: [unverifiedSample('test')],
    description:
      'Sends a signed message of the type `webhook.test`, even if the webhook is paused or disabled. A webhook that is `pending` must be activated first.',
    responses: {
      '200': jsonResponse(
        "What happened: the receiver's status, or why there was none.",
        'WebhookTestResponse',
        {
          data: {
            message_id: 'msg_0a1b2c3d4e5f60718293a4b5c6d7e8f9',
            status: 204,
            error: null,
            duration_ms: 48.2,
          },
        },
      ),
      ...respondsWith('invalid', 'notFound', 'webhookConflict', 'webhooksUnavailable'),
    },
    schemas: {
      WebhookTestResponse: responseSchema('Webhook test response', {
        type: 'object',
        title: 'Result of a test message',
        required: ['message_id', 'status', 'error', 'duration_ms'],
        properties: {
          message_id: { type: 'string' },
          status: { type: ['integer', 'null'] },
          error: { type: ['string', 'null'] },
          duration_ms: { type: 'number' },
        },
      }),
    },
  },
  handler: (parts) => async (request, reply) => {
    const { access, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A test')
    const webhook = await write((transaction) => getWebhook(transaction, access, id))
    const entry = await parts.webhooks.test(access, webhook)
    await write((transaction) => logTest(transaction, { ...access, id }, entry))
    contextOf(request).records = 1
    return sendUncached(reply, JSON.stringify({ data: testJson(entry) }))
  },
}

function testJson({ messageId, status, error, ms }: LogEntry) {
  return { message_id: messageId, status, error, duration_ms: Math.round(ms * 10) / 10 }
}
