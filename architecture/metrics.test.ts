import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limits } from '../server/src/limits.ts'
import { prometheusName } from '../server/src/observability/instruments.ts'
import { Metrics } from '../server/src/observability/metrics.ts'

/** Names of metrics in rules, dashboard and documents are those that a process shows. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const rules = read('deploy/prometheus/quartermaster.rules.yml')
const dashboard = read('deploy/grafana/quartermaster.json')
const operating = read('docs/operating.md')

let metrics: Metrics
/** As Prometheus names them, without what a histogram adds. */
let names: string[]
let labels: Set<string>

beforeAll(() => {
  metrics = new Metrics({
    pools: () => [],
    verificationsWaiting: () => 0,
    ready: async () => {},
    logLinesDropped: () => 0,
  })
  names = metrics.instruments.map(({ definition }) => prometheusName(definition))
  labels = new Set(
    metrics.instruments.flatMap(({ definition }) =>
      (definition.labels ?? []).map((label) => label.replaceAll('.', '_')),
    ),
  )
})
afterAll(() => metrics.close())

const ours = /\b(?:http_server|quartermaster|db_client|nodejs|process|v8js)_[a-z0-9_]+\b/g

/** Names of metrics in PromQL, and the labels that it names. */
function named(text: string): { used: string[]; labelled: string[] } {
  const words = [...new Set(text.match(ours))]
  const used = words
    .filter((word) => !labels.has(word))
    .map((word) =>
      word.replace(/_(?:bucket|sum|count|total)$/, (suffix) => (names.includes(word) ? suffix : '')),
    )
  const labelled = [...text.matchAll(/(\w+)=~?\\?"/g)].map((match) => match[1] ?? '')
  return { used: [...new Set(used)], labelled: [...new Set(labelled)] }
}

describe.each([
  ['the rules', rules],
  ['the dashboard', dashboard],
])('%s', (_, text) => {
  it('name metrics that there are', () => {
    const { used } = named(text)
    expect(used.length).toBeGreaterThan(8)
    expect(used.filter((name) => !names.includes(name))).toEqual([])
  })

  it('name labels that there are', () => {
    const { labelled } = named(text)
    expect(labelled.length).toBeGreaterThan(1)
    expect(labelled.filter((label) => !labels.has(label) && !['job', 'instance'].includes(label))).toEqual([])
  })
})

it('the dashboard shows every metric', () => {
  const { used } = named(dashboard)
  expect(names.filter((name) => !used.includes(name))).toEqual([])
})

it('docs/operating.md has a row for every metric, with its labels, and no other', () => {
  const rows = [...operating.matchAll(/^\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \| (.*?) \|/gm)]
  const told = new Map(rows.map(([, name = '', , given = '']) => [name.replace(/_total$/, ''), given]))
  expect([...told.keys()].toSorted()).toEqual(names.toSorted())
  for (const { definition } of metrics.instruments) {
    const given = [...(told.get(prometheusName(definition)) ?? '').matchAll(/`([a-z_]+)`/g)].map(
      (match) => match[1],
    )
    expect(given, definition.name).toEqual(
      (definition.labels ?? []).map((label) => label.replaceAll('.', '_')),
    )
  }
})

it('docs/operating.md says what to do about every alert', () => {
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map((match) => match[1] ?? '')
  expect(alerts.length).toBeGreaterThan(10)
  expect(alerts.filter((alert) => !operating.includes(`| \`${alert}\` |`))).toEqual([])
})

/**
 * What waits never becomes more for long, because the process refuses new requests: a threshold above is one that never
 * fires. While the database is slow, requests are refused from `requestsWaitingMin` on.
 */
const waitingMost = [
  [/quartermaster_key_verification_waiting\{[^}]*\} > (\d+)/g, limits.requestsWaitingMin],
  [
    /pending_requests\{[^}]*pool_name="pipelined"\} > (\d+)/g,
    limits.requestsWaitingMin - limits.pipelinedConnections,
  ],
  [/pending_requests\{[^}]*pool_name!="pipelined"\} > (\d+)/g, limits.readsInFlightMax / 2],
] as const

it.each(waitingMost)('the alert on %s fires before the process refuses requests', (pattern, most) => {
  const thresholds = [...rules.matchAll(pattern)].map((match) => Number(match[1]))
  expect(thresholds.length).toBeGreaterThan(0)
  for (const threshold of thresholds) expect(threshold).toBeLessThan(most)
})

it('every alert on what waits is compared with its limit', () => {
  const waiting = [...rules.matchAll(/(?:_waiting|pending_requests)\{/g)]
  const compared = waitingMost.flatMap(([pattern]) => [...rules.matchAll(pattern)])
  expect(compared).toHaveLength(waiting.length)
})

it('no label could be an account, a key or a path', () => {
  expect([...labels].toSorted()).toEqual([
    'code',
    'cpu_mode',
    'db_client_connection_pool_name',
    'db_client_connection_state',
    'db_operation_name',
    'http_request_method',
    'http_response_status_code',
    'http_route',
    'outcome',
    'source',
  ])
})
