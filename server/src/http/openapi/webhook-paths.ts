import { resources } from '../../catalog/resources.ts'
import { views } from '../../catalog/views.ts'
import { limits } from '../../limits/limits.ts'
import { manageSamples } from './manage-samples.ts'
import { responseHeaders } from './parts.ts'
import { commonErrors, json, listOperation, oneOperation, ref } from './paths.ts'
import { curl, key, type Sample } from './samples.ts'
import { exampleRecord, recordSchema, unlisted } from './schemas.ts'

const scope = 'account:manage'
const needs = `Needs the scope \`${scope}\`.`
const tag = 'Webhooks'
const url = '"$BASE_URL/manage/v1/webhooks"'
const one = '"$BASE_URL/manage/v1/webhooks/$WEBHOOK_ID"'
const body = "-H 'Content-Type: application/json'"
const example = exampleRecord(views.webhook)
const secret = 'whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA='

const since = {
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

const list = (name: 'webhook' | 'delivery') =>
  listOperation(views[name], {
    tag,
    scope,
    order: 'newest first',
    samples: manageSamples.list(views[name].path),
    isResource: false,
  })

const changeErrors = {
  '400': ref('responses', 'invalid'),
  ...commonErrors,
  '404': ref('responses', 'notFound'),
}

const webhookResponse = {
  description: 'The webhook.',
  headers: responseHeaders,
  content: json(ref('schemas', 'WebhookResponse'), { data: example }),
}

const secretResponse = {
  description: 'The webhook and its secret.',
  headers: responseHeaders,
  content: json(ref('schemas', 'WebhookSecretResponse'), { data: { ...example, secret } }),
}

interface Action {
  readonly summary: string
  readonly description: string
  readonly sample: Sample
  readonly response?: object
  readonly errors?: object
  readonly requestBody?: object
}

const action = (name: string, { summary, description, sample, response, errors, requestBody }: Action) => ({
  post: {
    operationId: `${name}_webhook`,
    tags: [tag],
    summary,
    'x-codeSamples': [sample],
    description: `${needs} ${description}`,
    parameters: [ref('parameters', 'webhookId')],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { '200': response ?? webhookResponse, ...changeErrors, ...errors },
  },
})

const createOperation = {
  operationId: 'create_webhook',
  tags: [tag],
  summary: 'Create a webhook',
  'x-codeSamples': [
    curl(
      'curl',
      'curl --fail-with-body',
      url,
      key,
      body,
      `-d '{"resource":"product","url":"https://example.com/hook"}'`,
    ),
  ],
  description: `${needs} The webhook is \`pending\` and sends nothing before it is activated. Configure the receiver with the \`secret\` of the response first.`,
  requestBody: {
    required: true,
    content: json(ref('schemas', 'NewWebhookRequest'), {
      resource: 'product',
      url: 'https://example.com/hook',
      filter: 'list_price>10',
      fields: ['id', 'name'],
      since: 'now',
    }),
  },
  responses: {
    '201': {
      ...secretResponse,
      headers: {
        ...responseHeaders,
        Location: { description: 'The path of the webhook.', required: true, schema: { type: 'string' } },
      },
    },
    '400': ref('responses', 'invalid'),
    ...commonErrors,
    '409': ref('responses', 'webhookConflict'),
    '410': ref('responses', 'cursorExpired'),
    '413': ref('responses', 'tooLarge'),
    '501': ref('responses', 'webhooksUnavailable'),
  },
}

const changeOperation = {
  operationId: 'change_webhook',
  tags: [tag],
  summary: 'Change a webhook',
  'x-codeSamples': [
    curl('curl', 'curl --fail-with-body -X PATCH', one, key, body, `-d '{"fields":["id","name"]}'`),
  ],
  description: `${needs} After a change of its URL, the webhook must be activated again.`,
  parameters: [ref('parameters', 'webhookId')],
  requestBody: {
    required: true,
    content: json(ref('schemas', 'WebhookChange'), { fields: ['id', 'name'] }),
  },
  responses: { '200': webhookResponse, ...changeErrors, '413': ref('responses', 'tooLarge') },
}

const deleteOperation = {
  operationId: 'delete_webhook',
  tags: [tag],
  summary: 'Delete a webhook',
  'x-codeSamples': [curl('curl', 'curl --fail-with-body -X DELETE', one, key)],
  description: needs,
  parameters: [ref('parameters', 'webhookId')],
  responses: {
    '204': { description: 'The webhook is deleted. There is no body.', headers: responseHeaders },
    ...changeErrors,
  },
}

const path = '/manage/v1/webhooks/{webhook_id}'
/** Without a receiver, the response is 409: these samples do not fail then. */
const unverified = ['activate', 'pause', 'test']
const post = (name: string, ...options: readonly string[]) =>
  curl(
    'curl',
    unverified.includes(name) ? 'curl -X POST' : 'curl --fail-with-body -X POST',
    `"$BASE_URL/manage/v1/webhooks/$WEBHOOK_ID/${name}"`,
    key,
    ...options,
  )

export const webhookPaths = {
  '/manage/v1/webhooks': { get: list('webhook'), post: createOperation },
  [`${path}/activate`]: action('activate', {
    summary: 'Activate a webhook',
    description:
      'Sends a signed message of the type `webhook.challenge` to the receiver, which must respond with `data.challenge` as its body. Also resumes a webhook that is paused or disabled; it continues where it stopped.',
    sample: post('activate'),
    errors: { '409': ref('responses', 'webhookConflict'), '501': ref('responses', 'webhooksUnavailable') },
  }),
  [`${path}/pause`]: action('pause', {
    summary: 'Pause a webhook',
    description: 'Nothing is sent until the webhook is activated again. Its position does not change.',
    sample: post('pause'),
    errors: { '409': ref('responses', 'webhookConflict') },
  }),
  [`${path}/rotate`]: action('rotate', {
    summary: 'Rotate the secret of a webhook',
    description: `Messages have a signature by the new secret and one by the old secret for ${limits.webhookRotationHours} hours.`,
    sample: post('rotate'),
    response: secretResponse,
    errors: { '409': ref('responses', 'webhookConflict'), '501': ref('responses', 'webhooksUnavailable') },
  }),
  [`${path}/replay`]: action('replay', {
    summary: 'Send changes again',
    description: 'Sets the position from which changes are sent, as they are now.',
    sample: post('replay', body, `-d '{"since":"beginning"}'`),
    requestBody: {
      required: true,
      content: json(ref('schemas', 'WebhookReplay'), { since: 'beginning' }),
    },
    errors: {
      '409': ref('responses', 'webhookConflict'),
      '410': ref('responses', 'cursorExpired'),
      '413': ref('responses', 'tooLarge'),
    },
  }),
  [`${path}/test`]: action('test', {
    summary: 'Send a test message',
    description:
      'Sends a signed message of the type `webhook.test`, also if the webhook is paused or disabled. A webhook that is `pending` must be activated first.',
    sample: post('test'),
    response: {
      description: 'What happened: the status of the receiver, or why there was none.',
      headers: responseHeaders,
      content: json(ref('schemas', 'WebhookTestResponse'), {
        data: {
          message_id: 'msg_0a1b2c3d4e5f60718293a4b5c6d7e8f9',
          status: 204,
          error: null,
          duration_ms: 48.2,
        },
      }),
    },
    errors: { '409': ref('responses', 'webhookConflict'), '501': ref('responses', 'webhooksUnavailable') },
  }),
  [path]: {
    get: oneOperation(views.webhook, {
      tag,
      scope,
      id: ref('parameters', 'webhookId'),
      samples: [curl('curl', 'curl --fail-with-body', one, key)],
      isCached: false,
    }),
    patch: changeOperation,
    delete: deleteOperation,
  },
  '/manage/v1/deliveries': { get: list('delivery') },
}

const { required: _, properties, ...schema } = recordSchema(views.webhook)
const resourceNames = Object.keys(resources)

export const webhookSchemas = {
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
        examples: [secret],
      },
    },
  },
  WebhookSecretResponse: {
    type: 'object',
    ...unlisted,
    title: 'Webhook secret response',
    required: ['data'],
    properties: { data: ref('schemas', 'WebhookSecret') },
  },
  NewWebhookRequest: {
    type: 'object',
    title: 'New webhook request',
    required: ['resource', 'url'],
    properties: { resource: { type: 'string', enum: resourceNames }, ...members, since },
    additionalProperties: false,
  },
  WebhookChange: {
    type: 'object',
    title: 'Webhook change',
    properties: members,
    additionalProperties: false,
  },
  WebhookReplay: {
    type: 'object',
    title: 'Webhook replay',
    required: ['since'],
    properties: { since },
    additionalProperties: false,
  },
  WebhookTestResponse: {
    type: 'object',
    ...unlisted,
    title: 'Webhook test response',
    required: ['data'],
    properties: {
      data: {
        type: 'object',
        title: 'Result of a test message',
        required: ['message_id', 'status', 'error', 'duration_ms'],
        properties: {
          message_id: { type: 'string' },
          status: { type: ['integer', 'null'] },
          error: { type: ['string', 'null'] },
          duration_ms: { type: 'number' },
        },
      },
    },
  },
}
