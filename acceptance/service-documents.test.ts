import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  companies,
  encoded,
  type HttpResponse,
  partners,
  products,
  type RequestOptions,
  send,
} from './client.ts'
import { accountOf, declareKeys, type Example, filled, keyed, newIds, newWebhookId } from './example-ids.ts'
import {
  type Document,
  examplesOf,
  headerErrors,
  type Media,
  type Operation,
  parseDocument,
  type Schema,
  schemaErrors,
} from './openapi.ts'

const withoutAccount: RequestOptions = { host: 'localhost', key: null }

test('[B3] /livez and /readyz report without a key that the service runs and is ready', async () => {
  for (const path of ['/livez', '/readyz']) {
    const response = await send(path, withoutAccount)
    expect([response.status, JSON.parse(response.text)]).toEqual([200, { status: 'ok' }])
    expect(response.headers['x-request-id']).toMatch(/^\S{8,128}$/)
  }
})

async function document(): Promise<Document> {
  const response = await send('/openapi.json', withoutAccount)
  expect(response.status).toBe(200)
  expect(response.headers['content-type']).toMatch(/^application\/json\b/)
  return parseDocument(response.text)
}

const operations = async () =>
  Object.entries((await document()).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

/** Those that succeed without a receiver of webhooks. A field would be part of the records of other tests: see fields.test.ts. */
const runnable = async () =>
  (await operations()).filter(
    ({ operation: { operationId } }) =>
      !/^(?:(?:activate|pause|test)_webhook|(?:create|get|change|delete)_field|list_fields)$/.test(
        operationId,
      ),
  )

describe('/openapi.json', () => {
  beforeAll(async () => {
    // The lists of webhooks, deliveries and origins must have an entry to compare with.
    await send(`/manage/v1/webhooks/${await newWebhookId({})}/activate`, { method: 'POST' })
    const body = JSON.stringify({ origins: ['https://documents.example.com'] })
    const headers = { 'content-type': 'application/json' }
    expect((await send('/manage/v1/cors', { method: 'PATCH', body, headers })).status).toBe(200)
    await declareKeys()
  })

  test('[B3] is an OpenAPI 3.1 document, without a key', async () => {
    const { openapi, info } = await document()
    expect(openapi).toMatch(/^3\.1\.\d+$/)
    expect(info.title).toBe('Quartermaster')
  })

  test('[B4] has every operation of the service', async () => {
    const named = (await operations()).map(({ method, path }) => `${method} ${path}`)
    const expected = [products, partners, companies].flatMap((path) => [
      ...['GET', 'POST'].map((method) => `${method} ${path}`),
      ...['GET', 'PATCH', 'DELETE'].map((method) => `${method} ${path}/{id}`),
      `POST ${path}/batch`,
    ])
    expect(named).toEqual(expect.arrayContaining([...expected, 'GET /livez', 'GET /readyz']))
  })

  test('[B4] every example of a parameter is accepted, and the response matches its schema', async () => {
    let ran = 0
    const types = new Set<string>()
    for (const { path, method, operation } of await runnable()) {
      for (const example of requestsOf(operation)) {
        const response = await run(path, method, operation, example)
        checkAgainstSchema(operation, response, successOf(operation))
        ran += 1
      }
      for (const type of Object.keys(bodiesOf(operation))) {
        checkAgainstSchema(operation, await run(path, method, operation, {}, type), successOf(operation))
        types.add(type)
      }
    }
    expect(ran).toBeGreaterThan(40)
    expect([...types].toSorted()).toEqual([
      'application/json',
      'application/merge-patch+json',
      'application/x-ndjson',
      'text/csv',
    ])
  })

  test('[B4] the example of a response has the members of a real response', async () => {
    let compared = 0
    for (const { path, method, operation } of await runnable()) {
      const example = operation.responses[successOf(operation)]?.content?.['application/json']?.example
      if (example === undefined) continue
      const members = async () => keysOf(JSON.parse((await run(path, method, operation, {})).text))
      // The request log and usage are written seconds later.
      await expect
        .poll(members, { timeout: 120_000, interval: 500, message: `${method} ${path}` })
        .toEqual(keysOf(example))
      compared += 1
    }
    expect(compared).toBeGreaterThan(16)
  })

  test('[B4] a response without `fields` has every field, and one with `fields` may lack some', async () => {
    let compared = 0
    for (const { path, method, operation } of await runnable()) {
      const record = recordOf(operation)
      if (record === undefined) continue
      const [complete, selected] = record.anyOf ?? []
      expect(complete?.required, path).toEqual(Object.keys(complete?.properties ?? {}))
      expect(selected?.required, path).toBeUndefined()
      const { data } = JSON.parse((await run(path, method, operation, {})).text)
      for (const one of [data].flat()) expect(schemaErrors(one, complete ?? {}), path).toEqual([])
      compared += 1
    }
    expect(compared).toBe(19)
  })

  test('[B4][E3-etag] an operation has ETag, If-None-Match and 304, or none of them', async () => {
    let cached = 0
    for (const { path, method, operation } of await runnable()) {
      if (method !== 'GET') continue
      const response = await run(path, method, operation, {})
      const documented = operation.responses['304']
      const hasParameter = operation.parameters?.some(({ name }) => name === 'If-None-Match') ?? false
      expect([response.headers.etag !== undefined, hasParameter], path).toEqual(
        documented === undefined ? [false, false] : [true, true],
      )
      if (documented === undefined) continue
      const again = await run(path, method, operation, { 'If-None-Match': response.headers.etag })
      expect([again.status, again.text], path).toEqual([304, ''])
      expect(headerErrors(again.headers, documented), path).toEqual([])
      cached += 1
    }
    expect(cached).toBe(12)
  })

  test('[B4][B21] errors have the documented headers and bodies', async () => {
    let typed = 0
    for (const { path, method, operation } of await runnable()) {
      if (operation.security?.length === 0) continue
      expect(Object.keys(operation.responses), path).toContain('500')
      const url = filled(path, operation, { id: 999_999, value: 'unknown' })
      const account = path.includes('{key}') ? keyed() : {}
      const body = method === 'POST' ? { body: '{', headers: { 'content-type': 'application/json' } } : {}
      // A create returns 400, as published.
      const isTyped = operation.requestBody !== undefined && !isCreate(operation)
      typed += isTyped ? 1 : 0
      const text = { method, ...account, body: 'x', headers: { 'content-type': 'text/plain' } }
      for (const [status, response] of [
        [401, await send(url, { method, ...account, key: null })],
        [400, await send(method === 'POST' ? url : `${url}?x=1`, { method, ...account, ...body })],
        ...(path.endsWith('}') ? [[404, await send(url, account)] as const] : []),
        ...(isTyped ? [[415, await send(url, text)] as const] : []),
      ] as const) {
        const documented = operation.responses[String(status)]
        expect([response.status, documented !== undefined], `${method} ${url}`).toEqual([status, true])
        const schema = documented?.content?.['application/problem+json']?.schema ?? {}
        expect(schemaErrors(JSON.parse(response.text), schema), url).toEqual([])
        expect(headerErrors(response.headers, documented ?? {}), url).toEqual([])
      }
    }
    expect(typed).toBeGreaterThan(15)
  })

  test('[B4][B10] a list is JSON, and each export has the documented media type', async () => {
    let exported = 0
    for (const { path, operation } of await runnable()) {
      for (const [type, { example }] of Object.entries(operation['x-export'] ?? {})) {
        expect(Object.keys(operation.responses['200']?.content ?? {})).toEqual(['application/json'])
        const response = await send(path, { headers: { accept: type } })
        expect(response.status).toBe(200)
        const sent = String(response.headers['content-type']).split('; ')
        expect(sent).toEqual(expect.arrayContaining(type.split('; ')))
        expect(firstNames(response.text)).toEqual(firstNames(String(example)))
        exported += 1
      }
    }
    expect(exported).toBe(9)
  })

  test('[B4] every example of an error is the response to the request it names', async () => {
    let compared = 0
    for (const { path, method, operation } of await runnable()) {
      for (const [status, documented] of Object.entries(operation.responses)) {
        const examples = documented.content?.['application/problem+json']?.examples ?? {}
        for (const { value, 'x-request': query } of Object.values(examples)) {
          expect(query).toBeDefined()
          const response = await send(`${filled(path, operation, {})}?${query}`, { method })
          const { request_id: _, ...body } = JSON.parse(response.text)
          expect({ ...body, status: response.status }).toEqual({
            ...withoutId(value),
            status: Number(status),
          })
          compared += 1
        }
      }
    }
    expect(compared).toBeGreaterThan(5)
  })
})

const isCreate = ({ operationId }: Operation) => /^create_(?:product|partner|company)$/.test(operationId)

function successOf({ responses }: Operation): number {
  return Number(Object.keys(responses).find((status) => status.startsWith('2')))
}

/** The schema of a record in the response; undefined if the response has none, or only some fields of its own. */
function recordOf(operation: Operation): Schema | undefined {
  const data =
    operation.responses[successOf(operation)]?.content?.['application/json']?.schema.properties?.['data']
  const record = data?.items ?? data
  return record?.anyOf === undefined ? undefined : record
}

/** The names of the fields in the first line of an export. */
function firstNames(text: string): readonly string[] {
  const [line = ''] = text.split(/\r?\n/)
  return line.startsWith('{') ? Object.keys(JSON.parse(line)) : line.split(',')
}

/** By media type. The document has those that generated clients cannot send in an extension. */
function bodiesOf({ requestBody, 'x-stream-body': streamed }: Operation): Readonly<Record<string, Media>> {
  return { ...requestBody?.content, ...streamed }
}

/** Each example separately, and the first examples of all parameters together, except `sort`: `after_id` continues in the order of ids. */
function requestsOf({ parameters = [] }: Operation): Example[] {
  const separate = parameters.flatMap((p) => examplesOf(p).map((value) => ({ [p.name]: value })))
  const first = parameters.flatMap((p) =>
    examplesOf(p)
      .slice(0, p.name === 'sort' ? 0 : 1)
      .map((value) => [p.name, value]),
  )
  return [...separate, Object.fromEntries(first)]
}

/**
 * Reads in the account with the fixtures; writes in the account initech, changes and deletes a record of their own. Records that are named
 * by a unique field are in the account keyed.
 */
async function run(
  path: string,
  method: string,
  operation: Operation,
  documented: Example,
  mediaType?: string,
): Promise<HttpResponse> {
  const account = accountOf(path, method)
  const required = (operation.parameters ?? []).filter((p) => p.required === true && p.in === 'header')
  const example = {
    ...Object.fromEntries(required.map((p) => [p.name, p.example])),
    ...documented,
    ...(await newIds(path, method, operation)),
  }
  const parameters = (operation.parameters ?? []).filter(({ name }) => name in example)
  const query = parameters
    .filter((p) => p.in === 'query')
    .map((p) => `${p.name}=${encoded(String(example[p.name]))}`)
  // The example is sent several times, to several paths, and each needs another Idempotency-Key.
  const suffix = operation.operationId === 'create_partner' ? '' : randomUUID()
  const headers = parameters
    .filter((p) => p.in === 'header')
    .map((p) => [p.name, `${String(example[p.name])}${p.name === 'Idempotency-Key' ? suffix : ''}`])
  const bodies = Object.entries(bodiesOf(operation))
  const [type, media] = bodies.find(([one]) => one === mediaType) ?? bodies[0] ?? []
  const body = media?.example
  const url = `${filled(path, operation, example)}${query.length > 0 ? `?${query.join('&')}` : ''}`
  return send(url, {
    method,
    ...account,
    headers: {
      ...Object.fromEntries(headers),
      'x-request-id': randomUUID(),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

function checkAgainstSchema(operation: Operation, response: HttpResponse, status: number): void {
  expect(response.status, `${operation.operationId}: ${response.text}`).toBe(status)
  const documented = operation.responses[String(status)]
  expect(headerErrors(response.headers, documented ?? {}), operation.operationId).toEqual([])
  if (status === 204) {
    expect([documented?.content, response.text], operation.operationId).toEqual([undefined, ''])
    return
  }
  const lines = operation['x-stream-response']?.['application/x-ndjson']?.example
  if (typeof lines === 'string' && !response.headers['content-type']?.startsWith('application/json')) {
    expect(keysOf(lastLine(response.text)), operation.operationId).toEqual(keysOf(lastLine(lines)))
    return
  }
  const schema = documented?.content?.['application/json']?.schema
  expect(schema, operation.operationId).toBeDefined()
  expect(schemaErrors(JSON.parse(response.text), schema ?? {}), operation.operationId).toEqual([])
}

function lastLine(text: string): unknown {
  return JSON.parse(text.trim().split('\n').at(-1) ?? '')
}

/** The member names of a body; of a list, those of its first record. */
function keysOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, 1).map(keysOf)
  if (typeof body !== 'object' || body === null) return '…'
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, keysOf(value)]))
}

function withoutId(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'request_id'))
}

test('[B3] all other paths need a key', async () => {
  for (const path of ['/livez/x', '/metrics', '/openapi.yaml', '/documents', '/healthz']) {
    expect((await send(path, { key: null })).status).toBe(401)
  }
})

describe('/reference', () => {
  test('[B13] is public, for any host, cacheable, and loads nothing from other hosts', async () => {
    for (const path of [
      '/reference',
      '/reference/',
      '/reference/errors',
      '/reference/errors/request_invalid',
    ]) {
      const response = await send(path, withoutAccount)
      expect(response.status, path).toBe(200)
      expect(response.headers).toMatchObject({
        'cache-control': 'public, max-age=3600',
        vary: 'accept-encoding',
      })
      const again = await send(path, {
        ...withoutAccount,
        headers: { 'if-none-match': response.headers.etag ?? '' },
      })
      expect([again.status, again.text]).toEqual([304, ''])
      const policy = String(response.headers['content-security-policy'])
      expect(policy).toMatch(/^default-src 'none'; /)
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
      expect(response.text).not.toMatch(/(?:src|href)="https?:/)
    }
    expect((await send('/reference', { ...withoutAccount, method: 'POST' })).status).toBe(405)
    expect((await send('/reference?x=1', withoutAccount)).status).toBe(400)
    expect((await send('/reference/nothing', { key: null })).status).toBe(401)
  })

  test('[B13] has every operation with samples, and the filter language', async () => {
    const { info } = await document()
    const page = (await send('/reference', withoutAccount)).text
    for (const { operation } of await operations()) {
      expect(page).toContain(`<h3 id="${operation.operationId}">`)
      expect(operation['x-codeSamples']?.map(({ lang }) => lang)).toContain('Shell')
    }
    for (const part of ['## The filter language', '| decimal | `=` `!=` `>` `>=` `<` `<=` `[]` `![]` |'])
      expect(info.description).toContain(part)
  })

  test('[B7] the type of an error is the URL of a page about its code', async () => {
    for (const [path, options] of [
      [`${products}?limit=0`, {}],
      [products, { key: null }],
      [`${products}/999999`, {}],
    ] as const) {
      const problem: { type: string; code: string; title: string } = JSON.parse(
        (await send(path, options)).text,
      )
      const page = await send(problem.type, withoutAccount)
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.text).toContain(`<h1><code>${problem.code}</code>`)
      expect(page.text).toContain(problem.title)
    }
    expect((await send('/reference/errors/nothing', withoutAccount)).status).toBe(404)
  })
})
