import type { ResourceName } from './source.ts'

/** What `status` and the metrics show of a resource. Numbers are those since the connector was started. */
export interface ResourceStatus {
  records: number
  compared: number
  inserted: number
  updated: number
  deleted: number
  /** Records that others had changed or deleted here, and that have the source's values again. */
  overwritten: number
  /** Rows that the service does not accept. */
  rejected: number
  /** Records that the source still has, but no longer shows. They stay here. */
  hidden: number
  /** Seconds between a change in the source and its confirmed write here: of the last 500 changes. */
  lags: number[]
  /** When the source was last read completely, in ISO time; null: not yet. */
  sweptAt: string | null
  rolledAt: string | null
}

export type Phase = 'starting' | 'first_load' | 'running' | 'waiting' | 'stopped'

export interface Status {
  phase: Phase
  startedAt: string
  updatedAt: string
  /** Why the connector waits or has stopped. */
  problem: string | null
  /** Records created here that are in the source now, and those that it did not accept, with the reason by id. */
  births: { given: number; refused: Record<string, string> }
  /** Changes of fields sent to the source, and records whose fields were changed on both sides, by key. */
  updates: { sent: number; conflicts: Record<string, string> }
  /** Calls to the source, and the seconds that they took. */
  calls: { count: number; seconds: number }
  resources: Partial<Record<ResourceName, ResourceStatus>>
}

export const lagsKept = 500

export function newStatus(): Status {
  const now = new Date().toISOString()
  return {
    phase: 'starting',
    startedAt: now,
    updatedAt: now,
    problem: null,
    births: { given: 0, refused: {} },
    updates: { sent: 0, conflicts: {} },
    calls: { count: 0, seconds: 0 },
    resources: {},
  }
}

export function newResourceStatus(): ResourceStatus {
  return {
    records: 0,
    compared: 0,
    inserted: 0,
    updated: 0,
    deleted: 0,
    overwritten: 0,
    rejected: 0,
    hidden: 0,
    lags: [],
    sweptAt: null,
    rolledAt: null,
  }
}

export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

const counters = ['compared', 'inserted', 'updated', 'deleted', 'overwritten'] as const
const gauges = ['records', 'rejected', 'hidden'] as const

/** The status in the text format of Prometheus. */
export function metricsOf(status: Status): string {
  const lines: string[] = []
  const metric = (
    type: 'counter' | 'gauge',
    name: string,
    samples: readonly [labels: string, value: number][],
  ) => {
    lines.push(`# TYPE quartermaster_connector_${name} ${type}`)
    for (const [labels, value] of samples) lines.push(`quartermaster_connector_${name}${labels} ${value}`)
  }
  const resources = Object.entries(status.resources)
  const of = (value: (one: ResourceStatus) => number): [string, number][] =>
    resources.map(([name, one]) => [`{resource="${name}"}`, value(one)])
  metric('gauge', 'up', [['', status.phase === 'stopped' ? 0 : 1]])
  metric('gauge', 'problem', [['', status.problem === null ? 0 : 1]])
  for (const name of counters)
    metric(
      'counter',
      `${name}_total`,
      of((one) => one[name]),
    )
  for (const name of gauges)
    metric(
      'gauge',
      name,
      of((one) => one[name]),
    )
  metric(
    'gauge',
    'lag_p95_seconds',
    of((one) => percentile(one.lags, 0.95) ?? 0),
  )
  metric(
    'gauge',
    'swept_timestamp_seconds',
    of((one) => secondsOf(one.sweptAt)),
  )
  metric(
    'gauge',
    'rolled_timestamp_seconds',
    of((one) => secondsOf(one.rolledAt)),
  )
  metric('counter', 'births_total', [['', status.births.given]])
  metric('gauge', 'births_refused', [['', Object.keys(status.births.refused).length]])
  metric('counter', 'updates_total', [['', status.updates.sent]])
  metric('gauge', 'conflicts', [['', Object.keys(status.updates.conflicts).length]])
  metric('counter', 'source_calls_total', [['', status.calls.count]])
  metric('counter', 'source_seconds_total', [['', Math.round(status.calls.seconds * 1000) / 1000]])
  return `${lines.join('\n')}\n`
}

function secondsOf(time: string | null): number {
  return time === null ? 0 : Math.floor(Date.parse(time) / 1000)
}
