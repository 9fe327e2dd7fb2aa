import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { freePort } from '../src/cli/database/temporary-postgres.ts'
import { atEnd } from './at-end.ts'
import { account, connected, freshDatabase } from './database.ts'
import { startTestService } from './service.ts'

/** The spans that a running service sends to a collector over OTLP. */

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

let received: string[]
const products = '/api/v1/inventory/product'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = (flags: '00' | '01') => `00-${traceId}-b7ad6b7169203331-${flags}`

const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
const port = await freePort()
const endpoint = `http://127.0.0.1:${port}`
const collector = createServer((request, response) => void collect(request, response))
atEnd(() => {
  collector.close()
  collector.closeAllConnections()
})
collector.listen(port, '127.0.0.1')
await once(collector, 'listening')

async function collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  if (request.url === '/v1/traces') received.push(body)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

/** The spans of the requests that `send` makes. Closing the service flushes them. */
async function spansOf(
  settings: Record<string, string>,
  send: (service: Awaited<ReturnType<typeof startTestService>>) => Promise<unknown>,
): Promise<Span[]> {
  received = []
  const service = await startTestService(url, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...settings })
  await send(service)
  await service.close()
  return received.flatMap((body) =>
    JSON.parse(body).resourceSpans.flatMap((one: { scopeSpans: { spans: Span[] }[] }) =>
      one.scopeSpans.flatMap(({ spans }) => spans),
    ),
  )
}

it('a traced request has three spans: its own, its verification and its read, without key, account or filter', async () => {
  const spans = await spansOf({ OTEL_TRACES_SAMPLER_ARG: '1' }, (service) =>
    service.request(acme, 'GET', `${products}?filter=name*zzsecretzz`, {
      headers: { 'x-request-id': 'request-7' },
    }),
  )
  const byName = Object.fromEntries(spans.map((span) => [span.name, span]))
  const request = byName[`GET ${products}`]
  expect(spans.map(({ name }) => name).toSorted()).toEqual([`GET ${products}`, 'auth', 'read'])
  for (const step of ['auth', 'read']) {
    expect(byName[step]?.parentSpanId).toBe(request?.spanId)
    expect(byName[step]?.traceId).toBe(request?.traceId)
    expect(Number(byName[step]?.startTimeUnixNano)).toBeGreaterThanOrEqual(Number(request?.startTimeUnixNano))
    expect(Number(byName[step]?.endTimeUnixNano)).toBeLessThanOrEqual(Number(request?.endTimeUnixNano))
  }
  expect(Number(byName['read']?.startTimeUnixNano)).toBeGreaterThanOrEqual(
    Number(byName['auth']?.endTimeUnixNano),
  )
  const attributes = request?.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue])
  expect(Object.fromEntries(attributes ?? [])).toEqual({
    'http.request.method': 'GET',
    'http.route': products,
    'http.response.status_code': 200,
    'quartermaster.request_id': 'request-7',
    'quartermaster.source': 'read',
  })
  const sent = received.join('\n')
  for (const secret of ['acme', acme.key, acme.key.slice(3, 11), 'zzsecretzz', 'select']) {
    expect(sent).not.toContain(secret)
  }
})

it('the span of a rejected request has its error code; a create has a span of its write', async () => {
  const spans = await spansOf({ OTEL_TRACES_SAMPLER_ARG: '1' }, async (service) => {
    await service.request(acme, 'GET', `${products}/77`)
    await service.request(acme, 'POST', '/api/v1/resources/partner', {
      body: '{"name":"Nordwind"}',
      headers: { 'content-type': 'application/json' },
    })
  })
  const rejected = spans.find(({ name }) => name === `GET ${products}/:id`)
  expect(rejected?.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'record_unknown' } })
  expect(spans.map(({ name }) => name)).toContain('write')
})

it('the trace context of a trusted proxy is used, with its sampling decision', async () => {
  const send = (flags: '00' | '01') => (service: Awaited<ReturnType<typeof startTestService>>) =>
    service.request(acme, 'GET', products, { headers: { traceparent: traceparent(flags) } })
  const taken = await spansOf({ OTEL_TRACES_SAMPLER_ARG: '0' }, send('01'))
  expect(taken.length).toBeGreaterThan(1)
  expect(taken.every((span) => span.traceId === traceId)).toBe(true)
  expect(taken.find(({ name }) => name.startsWith('GET'))?.parentSpanId).toBe('b7ad6b7169203331')
  expect(await spansOf({ OTEL_TRACES_SAMPLER_ARG: '1' }, send('00'))).toEqual([])
})

it('the trace context of an untrusted client is ignored', async () => {
  const sendUntrusted = async (service: Awaited<ReturnType<typeof startTestService>>) => {
    const response = await fetch(`http://127.0.0.1:${service.port}/livez`, {
      headers: { traceparent: traceparent('01') },
    })
    expect(response.status).toBe(200)
  }
  const untrusted = { QUARTERMASTER_TRUSTED_PROXIES: '10.0.0.1' }
  expect(await spansOf({ ...untrusted, OTEL_TRACES_SAMPLER_ARG: '0' }, sendUntrusted)).toEqual([])
  const [span] = await spansOf({ ...untrusted, OTEL_TRACES_SAMPLER_ARG: '1' }, sendUntrusted)
  expect(span?.traceId).not.toBe(traceId)
})

it('an unavailable collector loses spans, not responses, and is reported', async () => {
  const unreachable = `http://127.0.0.1:${await freePort()}`
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: unreachable, OTEL_TRACES_SAMPLER_ARG: '1' }
  const service = await startTestService(url, environment, { traceExportMsMax: 500 })
  expect((await service.request(acme, 'GET', products)).status).toBe(200)
  await service.close()
  expect(service.events).toContainEqual(expect.objectContaining({ kind: 'spans-dropped', spans: 3 }))
})
