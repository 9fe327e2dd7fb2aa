import { limits } from '../limits.ts'
import type { Collection } from './collection.ts'
import type { Field } from './field.ts'

export type ViewName = 'key' | 'audit' | 'request' | 'usage'

/**
 * What the administrator of an account can list: asked, filtered and paged as resources are, but newest first, and
 * read anew every time.
 */
export interface View extends Collection {
  readonly name: ViewName
  /** Newest first by the first of these; together they tell any two records apart. */
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

const moment = (name: string, description: string, more: Partial<Field> = {}): Field => ({
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

const key: View = {
  name: 'key',
  noun: 'key',
  plural: 'keys',
  path: 'keys',
  description: 'An API key of the account. The key itself is shown once, when it is made.',
  order: ['created_at', 'key_id'],
  fields: [
    text('key_id', 'Names the key. It is no secret.', 'Xq3ZpL0a'),
    text('name', 'What the key is for.', 'web shop', { charactersMax: limits.keyNameCharactersMax }),
    text('scopes', 'What the key may do. A filter sees them as one text with commas.', '', {
      wire: 'list',
      example: ['product:read', 'partner:create'],
    }),
    text(
      'state',
      'active; rotating: valid until it expires, another took its place; expired; revoked.',
      'active',
    ),
    moment('created_at', 'When it was made.'),
    moment('expires_at', 'From when on it opens nothing; null: never.', {
      ...nullable,
      example: '2027-02-12T09:30:00.000Z',
    }),
    moment('revoked_at', 'When it was revoked; null: it was not.', { ...nullable, example: null }),
    text('rotated_to', 'The key that took its place.', '', { ...nullable, example: null }),
    moment('last_used_on', 'The day, in UTC, of its last accepted request; null: none yet.', {
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
    moment('at', 'When.'),
    text(
      'action',
      'What was done: key.create, key.rotate, key.revoke, account.create, account.suspend, account.activate, account.limit.',
      'key.create',
    ),
    text('subject', 'To what: the id of the key, or the name of the account.', 'Xq3ZpL0a'),
    text('details', 'What exactly, for a person.', 'web shop; product:read; expires never', nullable),
    text('actor', 'Who did it: key, or operator of the service.', 'key'),
    text('actor_id', 'Which one: the id of the key, or the operator’s user name.', 'b7TqM2vc'),
    text(
      'application',
      'By what: the User-Agent of the request, or the command line.',
      'curl/8.5.0',
      nullable,
    ),
    text(
      'address',
      'From where: the address of the client, or the operator’s machine.',
      '192.0.2.7',
      nullable,
    ),
  ],
}

const usedKey = text('key_id', 'The key that it came with.', 'Xq3ZpL0a')

const request: View = {
  name: 'request',
  noun: 'request',
  plural: 'requests',
  path: 'requests',
  description: `A request of the last ${limits.requestLogDays} days that came with a key of the account.`,
  order: ['at', 'id'],
  fields: [
    entryId,
    moment('at', 'When it began.'),
    text('request_id', 'As in `X-Request-Id` and in errors.', '5f0c1d6e-7a38-4a53-8f7c-0f7f2a1c9b11'),
    usedKey,
    text('method', 'The method.', 'GET'),
    text('path', 'The path, decoded.', '/api/v1/inventory/product'),
    text('query', 'The parameters but the filter, decoded.', 'limit=50&page=2', nullable),
    text('filter', 'The filter, decoded.', 'list_price>10&active=true', nullable),
    number('status', 'integer', 'The status of the answer.', 200),
    text('error_code', 'The code of the error; null: none.', '', { ...nullable, example: null }),
    text('error_detail', 'The detail of the error.', '', { ...nullable, example: null }),
    number('duration_ms', 'decimal', 'Milliseconds until it was answered.', 1.204),
    number('records', 'integer', 'Records in the answer.', 50),
    number('bytes', 'integer', 'Bytes of the answer, as they were sent.', 8410),
    {
      name: 'cached',
      type: 'boolean',
      nullable: false,
      description:
        'Whether it was answered without reading records: kept from before, or not modified. A read shared with other requests is a read.',
      example: true,
    },
  ],
}

const percentile = (share: number) =>
  number(
    `p${share}_ms`,
    'decimal',
    `${share} % of the requests took no more milliseconds, within 5 %.`,
    { 50: 0.9, 95: 2.1, 99: 7.4 }[share] ?? 0,
  )

const usage: View = {
  name: 'usage',
  noun: 'usage record',
  plural: 'usage',
  path: 'usage',
  description: 'The requests of a key on a route in a day or a minute.',
  order: ['at', 'key_id', 'route'],
  choices: { per: ['day', 'minute'] },
  fields: [
    moment('at', 'When the day or minute began, in UTC.', { example: '2026-11-14T00:00:00.000Z' }),
    usedKey,
    text('route', 'Method and path, with {id} for an id.', 'GET /api/v1/inventory/product'),
    number('requests', 'integer', 'How many requests there were.', 4200),
    number('errors', 'integer', 'How many had a status of 400 or more.', 3),
    number('unlogged', 'integer', 'How many are not in the request log: too many came at once.', 0),
    percentile(50),
    percentile(95),
    percentile(99),
  ],
}

export const views: Record<ViewName, View> = { key, audit, request, usage }
