import { expect } from 'vitest'
import { createdId, encoded, keyOf, type RequestOptions, send } from './client.ts'
import { examplesOf, type Operation, type Parameter } from './openapi.ts'

export type Example = Readonly<Record<string, unknown>>

/** A key that an example may rotate or revoke. */
export async function newKeyId(account: RequestOptions): Promise<string> {
  const response = await send('/manage/v1/keys', {
    ...account,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"for an example","scopes":["product:read"]}',
  })
  const { data }: { data: { key_id: string } } = JSON.parse(response.text)
  return data.key_id
}

/** A webhook that an example may change. Deletes those of earlier examples: their number is limited. */
export async function newWebhookId(account: RequestOptions): Promise<string> {
  const url = '/manage/v1/webhooks'
  const existing = await send(`${url}?fields=id&limit=1000`, account)
  const { data: old }: { data: readonly { id: string }[] } = JSON.parse(existing.text)
  for (const { id } of old.slice(1)) await send(`${url}/${id}`, { ...account, method: 'DELETE' })
  const response = await send(url, {
    ...account,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"resource":"product","url":"https://receiver.invalid/","filter":"list_price>10","fields":["id","name"]}',
  })
  const { data }: { data: { id: string } } = JSON.parse(response.text)
  return data.id
}

/** Makes the fields unique by which the examples name records. */
export async function declareKeys(): Promise<void> {
  const declare = (field: object) =>
    send('/manage/v1/fields', {
      ...keyed(),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(field),
    })
  for (const [resource, name] of [
    ['product', 'default_code'],
    ['partner', 'email'],
    ['company', 'company_code'],
  ] as const) {
    // The first definition of a resource would take half a minute to become unique.
    await declare({ resource, name: 'x_first', type: 'text' })
    await send(`/manage/v1/fields/${resource}.x_first`, { ...keyed(), method: 'DELETE' })
    expect((await declare({ resource, name, unique: true })).status).toBe(201)
  }
}

export const keyed = (): RequestOptions => ({ host: 'keyed', key: keyOf('keyed') })

/** The service assigns ids, so the document cannot have one that exists, or that a DELETE may delete. */
export async function newIds(path: string, method: string, operation: Operation): Promise<Example> {
  const account = accountOf(path, method)
  if (path.includes('{key_id}')) return { key_id: await newKeyId(account) }
  if (path.includes('{webhook_id}')) return { webhook_id: await newWebhookId(account) }
  const body = path.includes('company') ? '{"name":"x","branch_user":"1"}' : '{"name":"x"}'
  const headers = { 'content-type': 'application/json' }
  if (path.includes('{key}')) {
    const named = filled(path.replace('/adjust', ''), operation, {})
    await send(named, { ...account, method: 'PATCH', headers, body })
    return {}
  }
  if (!path.includes('{id}') || method === 'GET') return {}
  const collection = path.slice(0, path.indexOf('/{id}'))
  return { id: createdId(await send(collection, { ...account, method: 'POST', headers, body })) }
}

export function accountOf(path: string, method: string): RequestOptions {
  if (path.includes('{key}')) return keyed()
  return method === 'GET' ? {} : { host: 'initech', key: keyOf('initech') }
}

export function filled(path: string, { parameters = [] }: Operation, example: Example): string {
  const value = (p: Parameter) => String(example[p.name] ?? examplesOf(p)[0])
  return parameters
    .filter((p) => p.in === 'path')
    .reduce((url, p) => url.replace(`{${p.name}}`, encoded(value(p))), path)
}
