import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { limits } from '../server/src/limits/limits.ts'
import { defaultLimits } from '../server/src/limits/passed-limits.ts'
import { type Instrument, prometheusName } from '../server/src/observability/instruments.ts'
import { allInstruments } from './generated/metrics.ts'

/** Alert rules, dashboard and documents use exactly the metrics that a process exposes. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const rules = read('deploy/prometheus/quartermaster.rules.yml')
const dashboard = read('deploy/grafana/quartermaster.json')
const incidents = read('docs/operating/incidents.md')

let instruments: readonly Instrument[]
/** Prometheus names, without the suffixes of a histogram. */
let names: string[]
let labels: Set<string>

beforeAll(async () => {
  instruments = await allInstruments()
  names = instruments.map(({ definition }) => prometheusName(definition))
  labels = new Set(
    instruments.flatMap(({ definition }) =>
      (definition.labels ?? []).map((label) => label.replaceAll('.', '_')),
    ),
  )
})

const ours = /\b(?:http_server|quartermaster|db_client|nodejs|process|v8js)_[a-z0-9_]+\b/g

/** The metrics and labels that a text with PromQL uses. */
function namesIn(text: string): { used: string[]; labelled: string[] } {
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
  it('use existing metrics', () => {
    const { used } = namesIn(text)
    expect(used.length).toBeGreaterThan(8)
    expect(used.filter((name) => !names.includes(name))).toEqual([])
  })

  it('use existing labels', () => {
    const { labelled } = namesIn(text)
    expect(labelled.length).toBeGreaterThan(1)
    expect(labelled.filter((label) => !labels.has(label) && !['job', 'instance'].includes(label))).toEqual([])
  })
})

it('the dashboard shows every metric', () => {
  const { used } = namesIn(dashboard)
  expect(names.filter((name) => !used.includes(name))).toEqual([])
})

/** The rows of the table of alerts: each alert with the anchors of its entries. */
const rowsOfAlerts = [...incidents.matchAll(/^\| (`Quartermaster\w+`.*) \| (.*) \|$/gm)].flatMap(
  ([, cell = '', entries = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, alert = '']) => ({
      alert,
      anchors: [...entries.matchAll(/\(#([\w-]+)\)/g)].map((match) => match[1]),
    })),
)

it('docs/operating/incidents.md has a row for every alert, and no other', () => {
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map((match) => match[1] ?? '')
  expect(alerts.length).toBeGreaterThan(10)
  expect(rowsOfAlerts.map(({ alert }) => alert).toSorted()).toEqual(alerts.toSorted())
})

it('the entries of every alert have a command that confirms it', () => {
  expect(rowsOfAlerts.length).toBeGreaterThan(10)
  for (const { alert, anchors } of rowsOfAlerts) {
    const sections = incidents.split(/^## /m).filter((section) => anchors.includes(anchorOf(section)))
    expect(anchors.length, alert).toBeGreaterThan(0)
    expect(sections, alert).toHaveLength(anchors.length)
    expect(
      sections.some((section) => /^```(?:sh|sql) \S+$/m.test(section)),
      alert,
    ).toBe(true)
  }
})

function anchorOf(section: string): string {
  const [title = ''] = section.split('\n', 1)
  return title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

/**
 * A process rejects new requests when a queue reaches its limit, so an alert with a higher threshold would never fire. If the
 * database is slow, requests are rejected from `requestsWaitingMin` on.
 */
const queueLimits = [
  [/quartermaster_key_verification_waiting\{[^}]*\} > (\d+)/g, defaultLimits.requestsWaitingMin],
  [
    /pending_requests\{[^}]*pool_name="pipelined"\} > (\d+)/g,
    defaultLimits.requestsWaitingMin - defaultLimits.pipelinedConnections,
  ],
  [/pending_requests\{[^}]*pool_name!="pipelined"\} > (\d+)/g, limits.readsWaitingMax / 2],
] as const

it.each(queueLimits)('the alert on %s fires before the process rejects requests', (pattern, max) => {
  const thresholds = [...rules.matchAll(pattern)].map((match) => Number(match[1]))
  expect(thresholds.length).toBeGreaterThan(0)
  for (const threshold of thresholds) expect(threshold).toBeLessThan(max)
})

it('every alert on a queue is compared with its limit', () => {
  const waiting = [...rules.matchAll(/(?:_waiting|pending_requests)\{/g)]
  const compared = queueLimits.flatMap(([pattern]) => [...rules.matchAll(pattern)])
  expect(compared).toHaveLength(waiting.length)
})

it('no label contains an account, a key or a path', () => {
  expect([...labels].toSorted()).toEqual([
    'code',
    'cpu_mode',
    'db_client_connection_pool_name',
    'db_client_connection_state',
    'db_operation_name',
    'http_request_method',
    'http_response_status_code',
    'http_route',
    'operation',
    'outcome',
    'reason',
    'server',
    'source',
    'state',
    'step',
  ])
})
