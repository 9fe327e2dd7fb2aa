import {
  Counter,
  Histogram,
  type Instrument,
  ObservableInstrument,
  prometheusName,
} from '../../server/src/observability/instruments.ts'
import { Metrics } from '../../server/src/observability/metrics.ts'
import { PrimaryMetrics } from '../../server/src/observability/primary-metrics.ts'
import { cell, code, table } from './markdown.ts'

/** The metrics of a process and of the primary of several workers, of which nothing runs. */
export async function allInstruments(): Promise<readonly Instrument[]> {
  const state = {
    pools: () => [],
    replicas: () => undefined,
    verificationsWaiting: () => 0,
    feedWaiters: () => 0,
    backgroundCounts: () => 0,
    ready: async () => {},
    logLinesDropped: () => 0,
  }
  const identity = { serviceName: undefined, attributes: undefined }
  const parts = [
    new Metrics(state, identity),
    new PrimaryMetrics({ configured: 1, running: () => 1 }, identity),
  ]
  await Promise.all(parts.map((part) => part.close()))
  return parts.flatMap(({ instruments }) => instruments)
}

function kindOf(instrument: Instrument): string {
  if (instrument instanceof Histogram) return 'histogram'
  if (instrument instanceof Counter) return 'counter'
  if (instrument instanceof ObservableInstrument) return instrument.definition.kind ?? 'gauge'
  throw new Error(`${instrument.definition.name} has no kind.`)
}

export async function metrics(): Promise<string> {
  const rows = (await allInstruments()).map((instrument) => {
    const { definition } = instrument
    const kind = kindOf(instrument)
    const name = `${prometheusName(definition)}${kind === 'counter' ? '_total' : ''}`
    const labels = (definition.labels ?? []).map((label) => label.replaceAll('.', '_'))
    // The name shows a counter; all others are gauges.
    const meaning =
      kind === 'histogram'
        ? `${definition.description.replace(/\.$/, '')} (histogram).`
        : definition.description
    return [code(labels.length === 0 ? name : `${name}{${labels.join()}}`), cell(meaning)]
  })
  return table(['Metric and its labels', 'Meaning'], rows)
}
