import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, it } from 'vitest'
import { freePort } from '../src/cli/database/temporary-postgres.ts'
import { atEnd } from './at-end.ts'
import { account, connected, freshDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { startTestService, type TestService } from './service.ts'

/** Metrics that a collector receives from a real service, over OTLP. */

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

interface Point {
  readonly asDouble?: number
  readonly asInt?: number | string
  readonly count?: number | string
  readonly attributes: readonly Attribute[]
}

interface Metric {
  readonly name: string
  readonly unit: string
  readonly sum?: { readonly dataPoints: readonly Point[]; readonly aggregationTemporality: number }
  readonly gauge?: { readonly dataPoints: readonly Point[] }
  readonly histogram?: { readonly dataPoints: readonly Point[] }
}

interface Received {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

let received: Received[]
let status: number
const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
const collector = createServer((request, response) => void collect(request, response))
const port = await freePort()
atEnd(() => {
  collector.close()
  collector.closeAllConnections()
})
collector.listen(port, '127.0.0.1')
await once(collector, 'listening')
const endpoint = `http://127.0.0.1:${port}`

beforeEach(() => {
  received = []
  status = 200
})

async function collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  received.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
  response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
}

/** Starts a service, runs `work`, and closes the service, which sends its last metrics. */
async function served(
  settings: Record<string, string>,
  work: (service: TestService) => Promise<unknown>,
): Promise<TestService> {
  const service = await startTestService(url, settings)
  try {
    await work(service)
  } finally {
    await service.close()
  }
  return service
}

const request = (service: TestService) => service.request(acme, 'GET', products)

function lastMetrics(): { resource: Record<string, string | undefined>; metrics: Metric[] } {
  const { body } = received.findLast(({ path }) => path.endsWith('/v1/metrics')) ?? { body: '{}' }
  const [{ resource, scopeMetrics }] = JSON.parse(body).resourceMetrics
  return {
    resource: Object.fromEntries(
      resource.attributes.map(({ key, value }: Attribute) => [key, value.stringValue]),
    ),
    metrics: scopeMetrics.flatMap((scope: { metrics: Metric[] }) => scope.metrics),
  }
}

const pointsOf = ({ sum, gauge, histogram }: Metric) => (sum ?? gauge ?? histogram)?.dataPoints ?? []

/** The name that Prometheus shows, by OpenTelemetry's rules. */
function prometheusName({ name, unit, sum }: Metric): string {
  const suffix = { s: '_seconds', By: '_bytes', '1': '_ratio' }[unit] ?? ''
  return `${name.replaceAll('.', '_')}${suffix}${sum === undefined ? '' : '_total'}`
}

it('are the same as those of Prometheus, with the names and units of the semantic conventions', async () => {
  let exposed = ''
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`, QUARTERMASTER_ADMIN_PORT: '0' }
  await served(settings, async (service) => {
    await request(service)
    // A write waits for a connection of its pool, so that this metric exists before the last transmission, too.
    await service.post(acme, partners, { name: 'Nordwind' })
    exposed = (await scrape(service.adminPort)).text
  })
  const { metrics } = lastMetrics()
  const scraped = [...exposed.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name)
  expect(metrics.map(prometheusName).toSorted()).toEqual(
    scraped.filter((name) => name !== 'target_info').toSorted(),
  )
  const requests = metrics.find(({ name }) => name === 'http.server.request.duration')
  expect(requests?.unit).toBe('s')
  expect(
    requests?.histogram?.dataPoints.map(({ count, attributes }) => [
      Number(count),
      ...attributes.map(({ key, value }) => `${key}=${value.stringValue}`),
    ]),
  ).toContainEqual([1, 'http.request.method=GET', `http.route=${products}`, 'http.response.status_code=200'])
  expect(JSON.stringify(metrics)).not.toContain('acme')
})

it('are sent without an admin port, with the headers and the names of the operator', async () => {
  const settings = {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${endpoint}/team/v1/metrics`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20zztokenzz',
    OTEL_SERVICE_NAME: 'erp',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=ignored,deployment.environment.name=test%20one',
  }
  const service = await served(settings, request)
  expect(service.adminPort).toBeUndefined()
  expect(received.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/team/v1/metrics', 'Bearer zztokenzz'],
  ])
  expect(lastMetrics().resource).toEqual({
    'service.name': 'erp',
    'service.version': expect.any(String),
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'deployment.environment.name': 'test one',
  })
  expect(JSON.stringify(service.events)).not.toContain('zztokenzz')
})

it.each([
  [{ OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_SAMPLER_ARG: '1' }, ['/v1/traces']],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_TRACES_SAMPLER_ARG: '1' }, ['/v1/metrics']],
  [{ OTEL_TRACES_SAMPLER_ARG: '1' }, ['/v1/metrics', '/v1/traces']],
  [{ OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_EXPORTER: 'none' }, []],
])('%j decides what is sent', async (settings, paths) => {
  await served({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...settings }, request)
  expect(received.map(({ path }) => path).toSorted()).toEqual(paths)
})

it('a scrape and a transmission each cover the time since their own last one', async () => {
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    QUARTERMASTER_ADMIN_PORT: '0',
  }
  const delay = 'nodejs.eventloop.delay.max'
  const sentMax = () =>
    Math.max(
      ...received
        .filter(({ path }) => path === '/v1/metrics')
        .flatMap(({ body }): Metric[] => JSON.parse(body).resourceMetrics[0].scopeMetrics[0].metrics)
        .filter(({ name }) => name === delay)
        .flatMap((metric) =>
          pointsOf(metric).map(({ asDouble = 0, asInt = 0 }) => asDouble || Number(asInt)),
        ),
    )
  await served(settings, async (service) => {
    await scrape(service.adminPort)
    await eventually(() => received.length > 0)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
    await eventually(() => sentMax() > 0.3)
    const { samples } = await scrape(service.adminPort)
    expect(sampleOf(samples, 'nodejs_eventloop_delay_max_seconds')).toBeGreaterThan(0.3)
  })
})

it('a collector that rejects them delays no response, and is logged', async () => {
  status = 400
  const service = await served({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, async (running) => {
    expect((await request(running)).status).toBe(200)
  })
  expect(service.events).toContainEqual(expect.objectContaining({ kind: 'metrics-unsent' }))
})
