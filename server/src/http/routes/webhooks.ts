import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../accounts/verifications.ts'
import { type ResourceName, resources } from '../../catalog/resources.ts'
import { views } from '../../catalog/views.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  type NewWebhook,
  type Start,
  type WebhookChange,
} from '../../webhooks/endpoints.ts'
import type { TestMessages } from '../../webhooks/test-messages.ts'
import { isWebhookId, type Webhook, webhookJson } from '../../webhooks/webhook.ts'
import {
  bodyContent,
  bodySchemas,
  createdHeaders,
  jsonResponse,
  respondsWith,
  responseHeaders,
} from '../openapi/parts.ts'
import { curl, sendsJson } from '../openapi/samples.ts'
import { exampleRecord, recordSchema, ref, responseSchema } from '../openapi/schemas.ts'
import { viewPath } from '../paths.ts'
import { contextOf } from '../plugins/request-context.ts'
import {
  addUnknownMembers,
  type BodyShape,
  type JsonBody,
  jsonBody,
  kindOf,
  rejectBody,
} from '../request/body.ts'
import { sendCreated, sendUncached } from '../respond.ts'
import { administrationOf } from './administration.ts'
import type { Route } from './route.ts'
import { oneViewRoute } from './views.ts'

/** Routes that read and change webhooks. `views.ts` has their list, `webhook-actions.ts` what else can be done with one. */

const path = viewPath(views.webhook)
export const webhookPath = `${path}/{webhook_id}`
export const sampleWebhookPath = `${path}/$WEBHOOK_ID`
export const tag = 'Webhooks'
const resourceNames = Object.keys(resources)
const example = exampleRecord(views.webhook)
const exampleSecret = 'whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA='
const { required: _, properties, ...schema } = recordSchema(views.webhook)

export const since = {
  oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64', minimum: 0 }],
  description:
    'Where the changes begin: `now`, `beginning` (with every record), the number of a version, or a cursor of the change feed.',
  examples: ['beginning'],
}
const members = {
  url: { type: 'string', format: 'uri', maxLength: limits.webhookUrlCharactersMax },
  filter: { type: ['string', 'null'], description: 'Only records that match it; null: all.' },
  fields: { type: ['array', 'null'], minItems: 1, items: { type: 'string' }, description: 'null: all.' },
}

export const webhookResponse = jsonResponse('The webhook.', 'WebhookResponse', { data: example })

/** The response of a creation and of a rotation. */
export const secret = {
  response: jsonResponse('The webhook and its secret.', 'WebhookSecretResponse', {
    data: { ...example, secret: exampleSecret },
  }),
  schemas: {
    WebhookSecret: {
      ...schema,
      title: 'Webhook and its secret',
      required: [...views.webhook.fields.map(({ name }) => name), 'secret'],
      properties: {
        ...properties,
        secret: {
          type: 'string',
          pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
          description: 'The secret that signs, in the format of Standard Webhooks.',
          examples: [exampleSecret],
        },
      },
    },
    WebhookSecretResponse: responseSchema('Webhook secret response', ref('schemas', 'WebhookSecret')),
  },
}

const createShape: BodyShape = {
  name: 'NewWebhookRequest',
  title: 'New webhook request',
  members: { resource: { type: 'string', enum: resourceNames }, ...members, since },
  required: ['resource', 'url'],
  what: 'A webhook is created from resource, url, filter, fields and since',
  example: '{"resource":"product","url":"https://example.com/hook"}',
}
const changeShape: BodyShape = {
  name: 'WebhookChange',
  title: 'Webhook change',
  members,
  what: 'url, filter and fields of a webhook can be changed',
  example: '{"url":"https://example.com/hook"}',
}
export const webhookRoute = oneViewRoute({
  view: views.webhook,
  tag,
  path: webhookPath,
  parameter: 'webhookId',
  samplePath: sampleWebhookPath,
  idField: 'id',
  isId: isWebhookId,
})

export const createWebhookRoute: Route = {
  methods: ['POST'],
  path,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  operation: {
    operationId: 'create_webhook',
    tag,
    summary: 'Create a webhook',
    samples: [curl('', path, sendsJson, `-d '${createShape.example}'`)],
    description:
      "The webhook is `pending` and sends nothing until you activate it. First configure the receiver with the response's `secret`.",
    body: bodyContent(createShape, {
      resource: 'product',
      url: 'https://example.com/hook',
      filter: 'list_price>10',
      fields: ['id', 'name'],
      since: 'now',
    }),
    responses: {
      '201': { ...secret.response, headers: createdHeaders('webhook') },
      ...respondsWith('invalid', 'webhookConflict', 'cursorExpired', 'tooLarge', 'webhooksUnavailable'),
    },
    schemas: { ...secret.schemas, ...bodySchemas(createShape) },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, write } = administrationOf(request, reply, parts)
    // Rejects the request if webhooks are not configured.
    const { masterKeys } = parts.webhooks
    const created = newWebhookOf(request, parts.webhooks)
    const webhook = await write((transaction) =>
      createWebhook(transaction, access, actor, created, masterKeys),
    )
    contextOf(request).records = 1
    const body = withSecret(access, webhook, parts.webhooks)
    return sendCreated(reply.header('cache-control', 'no-store'), `${path}/${webhook.id}`, body)
  },
}

export const changeWebhookRoute: Route = {
  methods: ['PATCH'],
  path: webhookPath,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  operation: {
    operationId: 'change_webhook',
    tag,
    summary: 'Change a webhook',
    samples: [curl(' -X PATCH', sampleWebhookPath, sendsJson, `-d '{"fields":["id","name"]}'`)],
    description: 'After changing the URL, activate the webhook again.',
    parameters: ['webhookId'],
    body: bodyContent(changeShape, { fields: ['id', 'name'] }),
    responses: { '200': webhookResponse, ...respondsWith('invalid', 'notFound', 'tooLarge') },
    schemas: bodySchemas(changeShape),
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    const change = changeOf(request, parts.webhooks)
    const changed = await write((transaction) => changeWebhook(transaction, access, actor, id, change))
    return sendWebhook(reply, changed)
  },
}

export const deleteWebhookRoute: Route = {
  methods: ['DELETE'],
  path: webhookPath,
  scopes: ['account:manage'],
  operation: {
    operationId: 'delete_webhook',
    tag,
    summary: 'Delete a webhook',
    samples: [curl(' -X DELETE', sampleWebhookPath)],
    parameters: ['webhookId'],
    responses: {
      '204': { description: 'The webhook is deleted. There is no body.', headers: responseHeaders },
      ...respondsWith('invalid', 'notFound'),
    },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A deletion')
    await write((transaction) => deleteWebhook(transaction, access, actor, id))
    contextOf(request).records = 1
    return reply.code(204).header('cache-control', 'no-store').send()
  },
}

export function sendWebhook(reply: FastifyReply, webhook: Webhook): FastifyReply {
  contextOf(reply.request).records = 1
  return sendUncached(reply, JSON.stringify({ data: webhookJson(webhook) }))
}

/** The body of a response that shows the secret. */
export function withSecret(access: Access, webhook: Webhook, messages: TestMessages): string {
  const data = { ...webhookJson(webhook), secret: messages.secretOf(access, webhook) }
  return JSON.stringify({ data })
}

function newWebhookOf(request: FastifyRequest, messages: TestMessages): NewWebhook {
  const body = jsonBody(request, createShape)
  const faults = new Faults()
  addUnknownMembers(body, createShape, faults)
  const resource = resourceIn(body['resource'], faults)
  const created = {
    resource,
    url: urlIn(body, messages, faults),
    filter: filterIn(body['filter'], faults) ?? null,
    fields: fieldsIn(body['fields'], faults) ?? null,
    start: startIn(body['since'] ?? 'now', faults),
  }
  faults.throwIfAny('body_invalid')
  return created
}

function changeOf(request: FastifyRequest, messages: TestMessages): WebhookChange {
  const body = jsonBody(request, changeShape)
  const faults = new Faults()
  addUnknownMembers(body, changeShape, faults)
  const change: WebhookChange = {
    url: body['url'] === undefined ? undefined : urlIn(body, messages, faults),
    filter: filterIn(body['filter'], faults),
    fields: fieldsIn(body['fields'], faults),
  }
  faults.throwIfAny('body_invalid')
  return change
}

function resourceIn(value: unknown, faults: Faults): ResourceName {
  const found = Object.values(resources).find(({ name }) => name === value)
  if (found !== undefined) return found.name
  addFault(faults, 'resource', value, `must be one of ${resourceNames.join(', ')}`, resourceNames)
  return 'product'
}

function urlIn(body: JsonBody, messages: TestMessages, faults: Faults): string {
  const value = body['url']
  if (typeof value !== 'string') {
    addFault(faults, 'url', value, 'must be a URL that begins with https://', [
      'a URL such as https://example.com/hook',
    ])
    return ''
  }
  const message = messages.urlFault(value)
  if (message !== undefined) faults.add(() => ({ pointer: '/url', code: 'member_invalid', message }))
  return value
}

/** Undefined if the member is missing; null for no filter. */
function filterIn(value: unknown, faults: Faults): string | null | undefined {
  if (value === undefined || value === null || (typeof value === 'string' && value !== '')) return value
  addFault(faults, 'filter', value, 'must be a filter, or null for all records', [
    'a filter such as list_price>10',
    'null',
  ])
  return null
}

/** Separated by commas, as in a URL. */
function fieldsIn(value: unknown, faults: Faults): string | null | undefined {
  if (value === undefined || value === null) return value
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === 'string' && !one.includes(','))
  )
    return value.join(',')
  addFault(faults, 'fields', value, 'must be an array of field names, or null for all', [
    'an array such as ["id","name"]',
    'null',
  ])
  return null
}

/** Where the changes begin. */
export function startIn(value: unknown, faults: Faults): Start {
  if (value === 'now' || value === 'beginning') return value
  if (typeof value === 'string' && value !== '') return { cursor: value }
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return { version: value }
  const expected = ['now', 'beginning', 'a version', 'a cursor of the change feed']
  addFault(
    faults,
    'since',
    value,
    'must be now, beginning, a version or a cursor of the change feed',
    expected,
  )
  return 'now'
}

function addFault(
  faults: Faults,
  member: string,
  value: unknown,
  rule: string,
  expected: readonly string[],
): void {
  const is = typeof value === 'string' ? `"${excerpt(value)}"` : kindOf(value)
  faults.add(() => ({
    pointer: `/${member}`,
    code: value === undefined ? 'member_required' : 'member_invalid',
    message: value === undefined ? `${member} is missing. It ${rule}.` : `${member} ${rule}; it is ${is}.`,
    expected,
  }))
}
