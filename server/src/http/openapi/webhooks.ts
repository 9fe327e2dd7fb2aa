import { etagField } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import { json, resourceTag } from './parts.ts'
import { exampleRecord, ref, type Schema, schemaName } from './schemas.ts'

/** The messages that the receiver of a webhook gets: the `webhooks` of the OpenAPI document, with their headers and bodies. */

const webhookId = 'wh_0a1b2c3d4e5f60718293a4b5'
const timestamp = '2026-11-14T09:30:00.114Z'
const text = { type: 'string' } as const

/** The headers of every message, as Standard Webhooks defines them. */
export const messageParameters = {
  webhookMessageId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description:
      'Identifies the message. A retry has the same id, so a receiver can skip a message that it has processed.',
    schema: { ...text, pattern: '^msg_[0-9a-f]{32}$' },
    example: 'msg_2b1f5c0d9e8a47f6a3c1d0e9b8f7a6c5',
  },
  webhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description:
      'When this attempt was made, in seconds since 1970. Reject a message that is more than five minutes off.',
    schema: { type: 'integer', format: 'int64' },
    example: 1_794_648_600,
  },
  webhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      '`v1,` and the base64 HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body as received, joined by dots. The key is the secret ' +
      'without `whsec_`, decoded from base64. While a secret is rotated there are several signatures, separated by spaces: accept a message if any is right.',
    schema: { ...text, pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
}

/** By the `type` of the message. */
export function webhooksOf(resources: readonly Resource[]): Record<string, object> {
  const changes = resources.map((resource) => [
    `${resource.name}.changed`,
    { post: changesMessage(resource) },
  ])
  return {
    ...Object.fromEntries(changes),
    'webhook.test': { post: testMessage },
    'webhook.challenge': { post: challengeMessage },
  }
}

export function messageSchemas(resources: readonly Resource[]): Record<string, Schema> {
  const changed = resources.map((resource) => [changedName(resource), changedSchema(resource)])
  return {
    ...Object.fromEntries(changed),
    WebhookTestEvent: eventSchema('Test message', 'webhook.test', {}),
    WebhookChallengeEvent: eventSchema('Challenge', 'webhook.challenge', {
      challenge: { ...text, description: 'What the response returns.' },
    }),
  }
}

const changedName = (resource: Resource) => `${schemaName(resource)}ChangedEvent`

function changedSchema(resource: Resource): Schema {
  return eventSchema(`Changes of ${resource.plural}`, `${resource.name}.changed`, {
    changes: {
      type: 'array',
      maxItems: limits.webhookChangesMax,
      items: ref('schemas', `${schemaName(resource)}Change`),
      description: 'As in the change feed, oldest first. Records have the fields that the webhook selects.',
    },
    more: { type: 'boolean', description: 'Whether more changes were waiting when this message was sent.' },
    cursor: {
      ...text,
      description:
        'The position after these changes. The change feed continues there with `since`, with the same filter.',
    },
  })
}

function eventSchema(title: string, type: string, data: Readonly<Record<string, Schema>>): Schema {
  const properties = { webhook: { ...text, description: 'Identifies the webhook.' }, ...data }
  return {
    type: 'object',
    title,
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { ...text, enum: [type] },
      timestamp: { ...text, format: 'date-time', description: 'When this attempt was made.' },
      data: { type: 'object', required: Object.keys(properties), properties },
    },
  }
}

const rejections = {
  '401': {
    description:
      'The signature is wrong, or the message is too old. It is sent again like any other that fails.',
  },
  '410': { description: 'You want no more messages: the webhook becomes `disabled`.' },
}

const accepted = {
  '2XX': { description: 'You have stored the message. A body is ignored.' },
  ...rejections,
}

function message(operationId: string, summary: string, description: string, schema: string, example: object) {
  return {
    operationId,
    tags: ['Webhooks'],
    summary,
    description,
    // Signed, not authenticated by a key.
    security: [],
    parameters: Object.keys(messageParameters).map((name) => ref('parameters', name)),
    requestBody: { required: true, content: json(ref('schemas', schema), example) },
    responses: accepted,
  }
}

function changesMessage(resource: Resource): object {
  const { name } = resource
  const record = exampleRecord(resource)
  return message(
    `receive_${name}_changes`,
    `${resourceTag(resource)} were changed`,
    `Up to ${limits.webhookChangesMax} changes, in order, each at least once. Respond with a status of 2xx within 15 seconds; otherwise the message is sent again. Skip a change whose \`version\` is lower than that of the record that you have.`,
    changedName(resource),
    {
      type: `${name}.changed`,
      timestamp,
      data: {
        webhook: webhookId,
        changes: [{ change: 'updated', id: record['id'], version: 15, etag: etagField.example, record }],
        more: false,
        cursor: 'AQBRn-6y0VgAAAAAAABJ7pR7V9uZcgAAAAAAAAAPf_________8AAAAAAAAACYGfnGM',
      },
    },
  )
}

const testMessage = message(
  'receive_webhook_test',
  'A test message',
  'Sent by `POST /manage/v1/webhooks/{webhook_id}/test`.',
  'WebhookTestEvent',
  { type: 'webhook.test', timestamp, data: { webhook: webhookId } },
)

const challengeMessage = {
  ...message(
    'receive_webhook_challenge',
    'A challenge',
    'Sent by `POST /manage/v1/webhooks/{webhook_id}/activate`. Verify the signature, then return `data.challenge`: this proves that you control the URL.',
    'WebhookChallengeEvent',
    {
      type: 'webhook.challenge',
      timestamp,
      data: { webhook: webhookId, challenge: 'Zm9yIHRoZSByZWNlaXZlciB0byByZXR1' },
    },
  ),
  responses: {
    '200': {
      description: 'The challenge as text, or as `{"challenge":"…"}`.',
      content: { 'text/plain': { schema: text, example: 'Zm9yIHRoZSByZWNlaXZlciB0byByZXR1' } },
    },
    ...rejections,
  },
}
