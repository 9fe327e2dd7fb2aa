import { limits } from '../limits/limits.ts'
import { auditActions } from './audit-actions.ts'
import type { Collection } from './collection.ts'
import type { Field } from './field.ts'

export type ViewName = 'key' | 'audit' | 'request' | 'usage' | 'webhook' | 'delivery' | 'field'

/**
 * A list for administrators of an account. Filters and pages work as for resources, but the order is newest first and
 * responses are not cached.
 */
export interface View extends Collection {
  readonly name: ViewName
  /** Sort columns, all descending. Together they are unique. */
  readonly order: readonly [string, ...string[]]
}

const text = (name: string, description: string, example: string, more: Partial<Field> = {}): Field => ({
  name,
  type: 'text',
  nullable: false,
  description,
  example,
  ...more,
})

const timestamp = (name: string, description: string, more: Partial<Field> = {}): Field => ({
  name,
  type: 'timestamp',
  nullable: false,
  description,
  example: '2026-11-14T09:30:00.000Z',
  ...more,
})

const number = (name: string, type: 'integer' | 'decimal', description: string, example: number): Field => ({
  name,
  type,
  nullable: false,
  description,
  example,
})

const entryId = text('id', 'Identifies the entry within its account.', 'mi1x2y3zq0a7f3k9p1b0c')
const nullable = { nullable: true } as const
const webhookId = 'wh_0a1b2c3d4e5f60718293a4b5'

const key: View = {
  name: 'key',
  noun: 'key',
  plural: 'keys',
  path: 'keys',
  description: 'An API key of the account. The key itself is shown once, when it is created.',
  order: ['created_at', 'key_id'],
  fields: [
    text('key_id', 'Identifies the key. Not a secret.', 'Xq3ZpL0a'),
    text('name', 'What the key is for.', 'web shop', { charactersMax: limits.keyNameCharactersMax }),
    text('scopes', 'What the key may do. In a filter, a comma-separated text.', '', {
      wire: 'list',
      example: ['product:read', 'partner:create'],
    }),
    text(
      'state',
      'active; rotating: replaced by another key, and valid until it expires; expired; revoked.',
      'active',
    ),
    timestamp('created_at', 'When it was created.'),
    timestamp('expires_at', 'When it expires; null: never.', {
      ...nullable,
      example: '2027-02-12T09:30:00.000Z',
    }),
    timestamp('revoked_at', 'When it was revoked; null: not revoked.', { ...nullable, example: null }),
    text('rotated_to', 'The key that replaces it.', '', { ...nullable, example: null }),
    timestamp('last_used_on', 'The day, in UTC, of its last accepted request; null: none yet.', {
      ...nullable,
      wire: 'day',
      example: '2026-11-14',
    }),
  ],
}

const audit: View = {
  name: 'audit',
  noun: 'change',
  plural: 'changes',
  path: 'audit',
  description: 'A change of the account or of one of its keys: who, what, when, from where.',
  order: ['at', 'id'],
  fields: [
    entryId,
    timestamp('at', 'When the change was made.'),
    text('action', `The change: ${auditActions.join(', ')}.`, 'key.create'),
    text(
      'subject',
      'What was changed: a key, webhook or field id, or an account or resource name.',
      'Xq3ZpL0a',
    ),
    text('details', 'A description of the change.', 'web shop; product:read; expires never', nullable),
    text('actor', 'Who made the change: a key, or the operator.', 'key'),
    text('actor_id', "The key id, or the operator's user name.", 'b7TqM2vc'),
    text('application', "The request's User-Agent, or the command line.", 'curl/8.5.0', nullable),
    text('address', "The client's address, or the operator's machine.", '192.0.2.7', nullable),
  ],
}

const usedKey = text('key_id', "The request's key.", 'Xq3ZpL0a')

const request: View = {
  name: 'request',
  noun: 'request',
  plural: 'requests',
  path: 'requests',
  description: `A request in the last ${limits.requestLogDays} days with one of the account's keys.`,
  order: ['at', 'id'],
  fields: [
    entryId,
    timestamp('at', 'When it was received.'),
    text('request_id', 'As in `X-Request-Id` and in errors.', '5f0c1d6e-7a38-4a53-8f7c-0f7f2a1c9b11'),
    usedKey,
    text('method', 'The method.', 'GET'),
    text('path', 'The path, decoded.', '/api/v1/inventory/product'),
    text('query', 'The parameters without the filter, decoded.', 'limit=50&page=2', nullable),
    text('filter', 'The filter, decoded.', 'list_price>10&active=true', nullable),
    number('status', 'integer', 'The status of the response.', 200),
    text('error_code', 'The code of the error; null: no error.', '', { ...nullable, example: null }),
    text('error_detail', 'The detail of the error.', '', { ...nullable, example: null }),
    number('duration_ms', 'decimal', 'Milliseconds until the response was sent.', 1.204),
    number('records', 'integer', 'Records in the response.', 50),
    number('bytes', 'integer', 'Bytes of the response body as sent.', 8410),
    {
      name: 'cached',
      type: 'boolean',
      nullable: false,
      description:
        'Whether the response was cached or not modified, so nothing was read. False if the request shared a read with others.',
      example: true,
    },
  ],
}

const percentile = (share: number) =>
  number(
    `p${share}_ms`,
    'decimal',
    `The ${share}th percentile of the duration in milliseconds, within 5 %.`,
    { 50: 0.9, 95: 2.1, 99: 7.4 }[share] ?? 0,
  )

const usage: View = {
  name: 'usage',
  noun: 'usage record',
  plural: 'usage',
  path: 'usage',
  description: "A key's requests on a route in a day or a minute.",
  order: ['at', 'key_id', 'route'],
  choices: { per: ['day', 'minute'] },
  fields: [
    timestamp('at', 'When the day or minute began, in UTC.', { example: '2026-11-14T00:00:00.000Z' }),
    usedKey,
    text('route', 'Method and path, with {id} for an id.', 'GET /api/v1/inventory/product'),
    number('requests', 'integer', 'The number of requests.', 4200),
    number('errors', 'integer', 'Requests with a status of 400 or more.', 3),
    number(
      'unlogged',
      'integer',
      'Requests missing from the request log, because they arrived faster than it could be written.',
      0,
    ),
    percentile(50),
    percentile(95),
    percentile(99),
  ],
}

const webhook: View = {
  name: 'webhook',
  noun: 'webhook',
  plural: 'webhooks',
  path: 'webhooks',
  description: "An endpoint that receives a resource's changes.",
  order: ['created_at', 'id'],
  fields: [
    text('id', 'Identifies the webhook.', webhookId),
    text('resource', 'The resource: product, partner or company.', 'product'),
    text('url', "The receiver's URL.", 'https://example.com/hook'),
    text('filter', 'Only records that match this filter; null: all.', 'list_price>10', nullable),
    text('fields', 'The fields that are sent; null: all. In a filter, a comma-separated text.', '', {
      ...nullable,
      wire: 'list',
      example: ['id', 'name'],
    }),
    text(
      'status',
      'pending: not activated yet; active; paused: by an administrator, or after failures; disabled: the receiver responded with 410.',
      'active',
    ),
    text(
      'reason',
      'Why it is paused or disabled: requested, failing, gone, cursor_expired, query_invalid.',
      '',
      { ...nullable, example: null },
    ),
    timestamp('created_at', 'When it was created.'),
    timestamp('rotated_at', 'When its secret was last rotated.', { ...nullable, example: null }),
    number('delivered_version', 'integer', 'The last version that was delivered completely.', 12),
    number('failures', 'integer', 'Failed attempts since the last delivery.', 0),
    timestamp('failing_since', 'When the first of them was made.', { ...nullable, example: null }),
    timestamp('due_at', 'The earliest time of the next attempt.'),
  ],
}

const delivery: View = {
  name: 'delivery',
  noun: 'delivery',
  plural: 'deliveries',
  path: 'deliveries',
  description: `A message to the receiver of a webhook, in the last ${limits.deliveryLogDays} days. Contents are not stored.`,
  order: ['at', 'id'],
  fields: [
    entryId,
    timestamp('at', 'When the result was known.'),
    text('webhook_id', 'The webhook.', webhookId),
    text(
      'message_id',
      'The header webhook-id. Retries have the same id.',
      'msg_0a1b2c3d4e5f60718293a4b5c6d7e8f9',
    ),
    text('kind', 'changes, challenge or test.', 'changes'),
    number('changes', 'integer', 'The number of changes.', 3),
    number('from_version', 'integer', 'The version up to which everything had been delivered before.', 9),
    number('to_version', 'integer', 'The version of the last change.', 12),
    {
      ...number('status', 'integer', 'The status of the response; null: there was none.', 200),
      nullable: true,
    },
    text(
      'error',
      'null: delivered. status: the status was not 2xx. challenge: the challenge was not returned. Otherwise why there was no response.',
      '',
      { ...nullable, example: null },
    ),
    number('duration_ms', 'decimal', 'Milliseconds until the response.', 48.2),
  ],
}

const field: View = {
  name: 'field',
  noun: 'field',
  plural: 'fields',
  path: 'fields',
  description: 'A field that the account has declared for a resource, or has made unique.',
  order: ['created_at', 'id'],
  fields: [
    text('id', 'Identifies the field: its resource and its name.', 'product.x_barcode'),
    text('resource', 'The resource: product, partner or company.', 'product'),
    text('name', 'The name of the field in records.', 'x_barcode'),
    text('type', 'text, integer, decimal, boolean or timestamp.', 'text'),
    text('label', 'What the field means, for people.', 'Barcode', {
      charactersMax: limits.fieldLabelCharactersMax,
    }),
    {
      name: 'unique',
      type: 'boolean',
      nullable: false,
      description: 'Whether values are unique, so that a record can be addressed by one.',
      example: true,
    },
    text(
      'state',
      'ready; building: the values of existing records are being read; duplicates: two records have the same value, so the field is not unique.',
      'ready',
    ),
    timestamp('created_at', 'When it was declared.'),
  ],
}

export const views: Record<ViewName, View> = { key, audit, request, usage, webhook, delivery, field }
