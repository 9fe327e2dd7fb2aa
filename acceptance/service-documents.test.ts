import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Answer, type Ask, companies, encoded, keyOf, partners, products, send } from './client.ts'
import {
  type Document,
  departures,
  examplesOf,
  type Operation,
  type Parameter,
  parseDocument,
} from './openapi.ts'

const nobody: Ask = { host: 'localhost', key: null }

test('[B3] /livez and /readyz tell without a key that the service runs and is ready', async () => {
  for (const path of ['/livez', '/readyz']) {
    const answer = await send(path, nobody)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { status: 'ok' }])
    expect(answer.headers['x-request-id']).toMatch(/^\S{8,128}$/)
  }
})

async function document(): Promise<Document> {
  const answer = await send('/openapi.json', nobody)
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/)
  return parseDocument(answer.text)
}

const operations = async () =>
  Object.entries((await document()).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

describe('/openapi.json', () => {
  test('[B3] is an OpenAPI 3.1 document, without a key', async () => {
    const { openapi, info } = await document()
    expect(openapi).toMatch(/^3\.1\.\d+$/)
    expect(info.title).toBe('Quartermaster')
  })

  test('[B4] has every operation of the service', async () => {
    const named = (await operations()).map(({ method, path }) => `${method} ${path}`)
    const expected = [products, partners, companies].flatMap((path) => [`GET ${path}`, `GET ${path}/{id}`])
    expect(named).toEqual(
      expect.arrayContaining([...expected, `POST ${partners}`, 'GET /livez', 'GET /readyz']),
    )
  })

  test('[B4] every example of a parameter is taken, and the answer is as its schema says', async () => {
    let ran = 0
    for (const { path, method, operation } of await operations()) {
      for (const example of requestsOf(operation)) {
        const answer = await run(path, method, operation, example)
        checkAgainstSchema(operation, answer, successOf(operation))
        ran += 1
      }
    }
    expect(ran).toBeGreaterThan(40)
  })

  test('[B4] the example of an answer has the members that a real answer has', async () => {
    let compared = 0
    for (const { path, method, operation } of await operations()) {
      const example = operation.responses[successOf(operation)]?.content?.['application/json']?.example
      const members = async () => keysOf(JSON.parse((await run(path, method, operation, {})).text))
      // What accounts did is there some seconds later.
      await expect
        .poll(members, { timeout: 15_000, interval: 500, message: `${method} ${path}` })
        .toEqual(keysOf(example))
      compared += 1
    }
    expect(compared).toBeGreaterThan(16)
  })

  test('[B4] every example of an error comes about by the request that it names', async () => {
    let compared = 0
    for (const { path, method, operation } of await operations()) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const examples = response.content?.['application/problem+json']?.examples ?? {}
        for (const { value, 'x-request': query } of Object.values(examples)) {
          expect(query).toBeDefined()
          const answer = await send(`${filled(path, operation, {})}?${query}`, { method })
          const { request_id: _, ...body } = JSON.parse(answer.text)
          expect({ ...body, status: answer.status }).toEqual({ ...withoutId(value), status: Number(status) })
          compared += 1
        }
      }
    }
    expect(compared).toBeGreaterThan(5)
  })
})

type Example = Readonly<Record<string, unknown>>

function successOf({ responses }: Operation): number {
  return Number(Object.keys(responses).find((status) => status.startsWith('2')))
}

/** Each example alone, and the first of all parameters together. */
function requestsOf({ parameters = [] }: Operation): Example[] {
  const alone = parameters.flatMap((p) => examplesOf(p).map((value) => ({ [p.name]: value })))
  return [...alone, Object.fromEntries(parameters.map((p) => [p.name, examplesOf(p)[0]]))]
}

/** In the account that holds the fixtures; what creates, where records come and go. */
async function run(path: string, method: string, operation: Operation, documented: Example): Promise<Answer> {
  const place: Ask = method === 'POST' ? { host: 'initech', key: keyOf('initech') } : {}
  // A key's id is made up by the service, so that none can stand in a document.
  const example = path.includes('{key_id}') ? { ...documented, key_id: await newKeyId(place) } : documented
  const given = (operation.parameters ?? []).filter(({ name }) => name in example)
  const query = given
    .filter((p) => p.in === 'query')
    .map((p) => `${p.name}=${encoded(String(example[p.name]))}`)
  // A key is made once for an Idempotency-Key; the document's is sent more than once.
  const suffix = operation.operationId === 'create_key' ? randomUUID() : ''
  const headers = given
    .filter((p) => p.in === 'header')
    .map((p) => [p.name, `${String(example[p.name])}${suffix}`])
  const body = operation.requestBody?.content['application/json']?.example
  const url = `${filled(path, operation, example)}${query.length > 0 ? `?${query.join('&')}` : ''}`
  return send(url, {
    method,
    ...place,
    headers: {
      ...Object.fromEntries(headers),
      'x-request-id': randomUUID(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function newKeyId(place: Ask): Promise<string> {
  const answer = await send('/manage/v1/keys', {
    ...place,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"for an example","scopes":["product:read"]}',
  })
  const { data }: { data: { key_id: string } } = JSON.parse(answer.text)
  return data.key_id
}

function filled(path: string, { parameters = [] }: Operation, example: Example): string {
  const value = (p: Parameter) => String(example[p.name] ?? examplesOf(p)[0])
  return parameters
    .filter((p) => p.in === 'path')
    .reduce((url, p) => url.replace(`{${p.name}}`, encoded(value(p))), path)
}

function checkAgainstSchema(operation: Operation, answer: Answer, status: number): void {
  expect(answer.status, `${operation.operationId}: ${answer.text}`).toBe(status)
  const schema = operation.responses[String(status)]?.content?.['application/json']?.schema
  expect(schema, operation.operationId).toBeDefined()
  expect(departures(JSON.parse(answer.text), schema ?? {}), operation.operationId).toEqual([])
}

/** The members of a body, of its records once. */
function keysOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, 1).map(keysOf)
  if (typeof body !== 'object' || body === null) return '…'
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, keysOf(value)]))
}

function withoutId(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'request_id'))
}

test('[B3] only these need no key', async () => {
  for (const path of ['/livez/x', '/metrics', '/openapi.yaml', '/docs', '/healthz']) {
    expect((await send(path, { key: null })).status).toBe(401)
  }
})

describe('/reference', () => {
  test('[B13] is there without a key, for any host, kept by browsers, and asks nobody else', async () => {
    for (const path of ['/reference', '/reference/', '/reference/errors', '/reference/scalar.js']) {
      const answer = await send(path, nobody)
      expect(answer.status, path).toBe(200)
      expect(answer.headers).toMatchObject({
        'cache-control': 'public, max-age=3600',
        vary: 'accept-encoding',
      })
      const again = await send(path, { ...nobody, headers: { 'if-none-match': answer.headers.etag ?? '' } })
      expect([again.status, again.text]).toEqual([304, ''])
      if (path.endsWith('.js')) continue
      const policy = String(answer.headers['content-security-policy'])
      expect(policy).toMatch(/^default-src 'none'; /)
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
      expect(answer.text).not.toMatch(/(?:src|href)="https?:/)
    }
    expect((await send('/reference', { ...nobody, method: 'POST' })).status).toBe(405)
    expect((await send('/reference?x=1', nobody)).status).toBe(400)
    expect((await send('/reference/nothing', { key: null })).status).toBe(401)
  })

  test('[B13] has every operation with samples, and the filter language', async () => {
    const { info } = await document()
    for (const { operation } of await operations()) {
      expect(operation['x-codeSamples']?.map(({ lang }) => lang)).toContain('Shell')
    }
    for (const part of ['## The filter language', '| decimal | `=` `!=` `>` `>=` `<` `<=` `[]` `![]` |'])
      expect(info.description).toContain(part)
  })

  test('[B7] the type of an error leads to a page about its code', async () => {
    for (const [path, ask] of [
      [`${products}?limit=0`, {}],
      [products, { key: null }],
      [`${products}/999999`, {}],
    ] as const) {
      const problem: { type: string; code: string; title: string } = JSON.parse((await send(path, ask)).text)
      const page = await send(problem.type, nobody)
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.text).toContain(`<h1><code>${problem.code}</code>`)
      expect(page.text).toContain(problem.title)
    }
    expect((await send('/reference/errors/nothing', nobody)).status).toBe(404)
  })
})
