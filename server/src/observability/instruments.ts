import type {
  Attributes,
  Meter,
  Counter as MeterCounter,
  Histogram as MeterHistogram,
} from '@opentelemetry/api'

/** Instruments of OpenTelemetry, each with its labels. */

export interface InstrumentDefinition {
  /** From OpenTelemetry's semantic conventions if they define one. */
  readonly name: string
  readonly unit: 's' | 'By' | '1' | `{${string}}`
  readonly description: string
  /** Names of attributes. Their values come from closed lists. */
  readonly labels?: readonly string[]
}

export interface Instrument {
  readonly definition: InstrumentDefinition
  /** Values recorded before this call are ignored. */
  register(meter: Meter): void
}

/** The unit suffixes of Prometheus. */
const suffixes: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes', '1': '_ratio' }

export function prometheusName({ name, unit }: { readonly name: string; readonly unit: string }): string {
  return `${name.replaceAll('.', '_')}${suffixes[unit] ?? ''}`
}

export class Counter implements Instrument {
  readonly definition: InstrumentDefinition
  #counter: MeterCounter | undefined

  constructor(definition: InstrumentDefinition) {
    this.definition = definition
  }

  register(meter: Meter): void {
    this.#counter = meter.createCounter(this.definition.name, optionsOf(this.definition))
  }

  add(amount: number, ...values: readonly string[]): void {
    this.#counter?.add(amount, attributesOf(this.definition, values))
  }
}

interface HistogramDefinition extends InstrumentDefinition {
  readonly boundaries: readonly number[]
}

export class Histogram implements Instrument {
  readonly definition: HistogramDefinition
  #histogram: MeterHistogram | undefined

  constructor(definition: HistogramDefinition) {
    this.definition = definition
  }

  register(meter: Meter): void {
    this.#histogram = meter.createHistogram(this.definition.name, {
      ...optionsOf(this.definition),
      advice: { explicitBucketBoundaries: [...this.definition.boundaries] },
    })
  }

  record(value: number, ...values: readonly string[]): void {
    this.#histogram?.record(value, attributesOf(this.definition, values))
  }
}

/** A value and the values of its labels. */
export type Observation = readonly [number, ...string[]]

interface ObservableDefinition extends InstrumentDefinition {
  /** Default: a gauge. */
  readonly kind?: 'counter'
  readonly observe: () => readonly Observation[] | Promise<readonly Observation[]>
}

/** A gauge or counter that is read at scrape time. */
export class ObservableInstrument implements Instrument {
  readonly definition: ObservableDefinition

  constructor(definition: ObservableDefinition) {
    this.definition = definition
  }

  register(meter: Meter): void {
    const { definition } = this
    const options = optionsOf(definition)
    const instrument =
      definition.kind === 'counter'
        ? meter.createObservableCounter(definition.name, options)
        : meter.createObservableGauge(definition.name, options)
    instrument.addCallback(async (result) => {
      for (const [value, ...values] of await definition.observe())
        result.observe(value, attributesOf(definition, values))
    })
  }
}

function optionsOf({ unit, description }: InstrumentDefinition): { unit: string; description: string } {
  return { unit, description }
}

function attributesOf({ labels = [] }: InstrumentDefinition, values: readonly string[]): Attributes {
  const attributes: Attributes = {}
  for (let i = 0; i < labels.length; i++) attributes[labels[i] ?? ''] = values[i] ?? ''
  return attributes
}
