import { expect, it } from 'vitest'
import { stopAtEnd } from './at-end.ts'
import { account } from './database.ts'
import { passes } from './eventually.ts'
import { freshService } from './service.ts'
import { type ReceivedMessage, Receiver } from './webhook-receiver.ts'

/** The messages that a receiver gets are those that the OpenAPI document describes in `webhooks`. */

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

interface Parameter {
  readonly $ref: string
}

interface Message {
  readonly parameters: readonly Parameter[]
  readonly requestBody: { readonly content: Readonly<Record<string, { schema: Schema; example: unknown }>> }
}

interface Document {
  readonly webhooks: Readonly<Record<string, { readonly post: Message }>>
  readonly components: {
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly schema: Schema }>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

const receiver = stopAtEnd(new Receiver())
const { client, service } = await freshService({
  QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
  QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.2',
})
const acme = await account(client, 'acme')
await receiver.start()

const { components, webhooks }: Document = JSON.parse(
  await (await fetch(`http://127.0.0.1:${service.port}/openapi.json`)).text(),
)

it('are changes of every resource, a challenge and a test message', async () => {
  for (const [resource, path, record] of [
    ['product', '/api/v1/inventory/product', { name: 'Bolt', list_price: '0.35' }],
    ['partner', '/api/v1/resources/partner', { name: 'Nordwind' }],
    ['company', '/api/v1/resources/company', { name: 'Nordwind', branch_user: '007' }],
  ] as const) {
    for (const fields of [undefined, ['id', 'name']]) {
      const created = await service.post(acme, '/manage/v1/webhooks', {
        resource,
        url: receiver.url,
        ...(fields === undefined ? {} : { fields }),
      })
      const { data }: { data: { id: string } } = JSON.parse(JSON.stringify(created.body))
      for (const action of ['activate', 'test'])
        expect((await service.request(acme, 'POST', `/manage/v1/webhooks/${data.id}/${action}`)).status).toBe(
          200,
        )
    }
    expect((await service.post(acme, path, record)).status).toBe(201)
    await delivered(resource, 'created')
    await service.request(acme, 'DELETE', `${path}/1`)
    await delivered(resource, 'deleted')
  }
  expect(new Set(receiver.messages.map(({ type }) => type))).toEqual(new Set(Object.keys(webhooks)))
  for (const message of receiver.messages) expect(faultsOf(message), message.text).toEqual([])
  const [first] = receiver.messages
  if (first === undefined) throw new Error('no message')
  expect(faultsOf({ ...first, text: first.text.replace('"timestamp"', '"time"') })).toEqual([
    '/timestamp: missing',
  ])
  expect(faultsOf({ ...first, signature: 'v1,short' })).toEqual(['webhook-signature: v1,short'])
})

it('have examples that are such messages', () => {
  for (const [type, { post }] of Object.entries(webhooks)) {
    const { schema = {}, example } = post.requestBody.content['application/json'] ?? {}
    expect(example).toMatchObject({ type })
    expect(faults(example, schema)).toEqual([])
  }
})

/** To both webhooks of the resource. */
async function delivered(resource: string, wanted: string): Promise<void> {
  const changes = () =>
    receiver.messages.flatMap(({ type, data }) =>
      type === `${resource}.changed` ? (data.changes ?? []) : [],
    )
  await passes(() => expect(changes().filter(({ change }) => change === wanted)).toHaveLength(2))
}

function faultsOf({ id, timestamp, signature, text, type }: ReceivedMessage): string[] {
  const sent: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  }
  const { parameters = [], requestBody } = webhooks[type]?.post ?? {}
  const headers = parameters.map(({ $ref }) => components.parameters[$ref.split('/').at(-1) ?? ''])
  expect(headers.map((header) => header?.name)).toEqual(Object.keys(sent))
  return [
    ...headers.flatMap((header) => {
      const value = sent[header?.name ?? ''] ?? ''
      const pattern = header?.schema.type === 'integer' ? '^[0-9]+$' : (header?.schema.pattern ?? '^$')
      return new RegExp(pattern).test(value) ? [] : [`${header?.name}: ${value}`]
    }),
    ...faults(JSON.parse(text), requestBody?.content['application/json']?.schema ?? { enum: [] }),
  ]
}

function faults(value: unknown, schema: Schema, path = ''): string[] {
  if (schema.$ref !== undefined)
    return faults(value, components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? { enum: [] }, path)
  if (schema.anyOf !== undefined) {
    const all = schema.anyOf.map((one) => faults(value, one, path))
    return all.some((one) => one.length === 0) ? [] : all.flat()
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${path}: not in the enum`]
  const types = [schema.type ?? []].flat()
  if (
    types.length > 0 &&
    !types.includes(typeOf(value)) &&
    !(types.includes('number') && typeof value === 'number')
  )
    return [`${path}: ${typeOf(value)} instead of ${types.join(' or ')}`]
  if (Array.isArray(value))
    return value.flatMap((item, i) => faults(item, schema.items ?? {}, `${path}/${i}`))
  if (typeof value !== 'object' || value === null) return []
  const { required = [], properties = {}, additionalProperties = true } = schema
  return [
    ...required.filter((name) => !(name in value)).map((name) => `${path}/${name}: missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      const property = properties[name]
      if (property === undefined) return additionalProperties ? [] : [`${path}/${name}: unknown`]
      return faults(member, property, `${path}/${name}`)
    }),
  ]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
