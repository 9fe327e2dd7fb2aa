import type {
  Attributes,
  Meter,
  Counter as MeterCounter,
  Histogram as MeterHistogram,
} from '@opentelemetry/api'

/** The instruments of OpenTelemetry, with the labels that each has. */

export interface About {
  /** By OpenTelemetry's semantic conventions where they have one. */
  readonly name: string
  readonly unit: 's' | 'By' | '1' | `{${string}}`
  readonly description: string
  /** Names of attributes. Their values come from closed lists of ours. */
  readonly labels?: readonly string[]
}

export interface Instrument {
  readonly about: About
  /** Before this, nothing is recorded. */
  register(meter: Meter): void
}

/** What Prometheus expects at the end of a name, which OpenTelemetry's exporter leaves out. */
const suffixes: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes', '1': '_ratio' }

export function prometheusName({ name, unit }: About): string {
  return `${name.replaceAll('.', '_')}${suffixes[unit] ?? ''}`
}

export class Counter implements Instrument {
  readonly about: About
  #counter: MeterCounter | undefined

  constructor(about: About) {
    this.about = about
  }

  register(meter: Meter): void {
    this.#counter = meter.createCounter(prometheusName(this.about), {
      description: this.about.description,
    })
  }

  add(amount: number, ...values: readonly string[]): void {
    this.#counter?.add(amount, attributesOf(this.about, values))
  }
}

export class Histogram implements Instrument {
  readonly about: About
  readonly #boundaries: readonly number[]
  #histogram: MeterHistogram | undefined

  constructor(about: About, boundaries: readonly number[]) {
    this.about = about
    this.#boundaries = boundaries
  }

  register(meter: Meter): void {
    this.#histogram = meter.createHistogram(prometheusName(this.about), {
      description: this.about.description,
      advice: { explicitBucketBoundaries: [...this.#boundaries] },
    })
  }

  record(value: number, ...values: readonly string[]): void {
    this.#histogram?.record(value, attributesOf(this.about, values))
  }
}

/** A value and its labels. */
export type Reading = readonly [number, ...string[]]

type Read = () => readonly Reading[] | Promise<readonly Reading[]>

/** A state, or a count that another part has. It is read at scrape time. */
export class Observed implements Instrument {
  readonly about: About
  readonly #kind: 'state' | 'count'
  readonly #read: Read

  constructor(about: About, kind: 'state' | 'count', read: Read) {
    this.about = about
    this.#kind = kind
    this.#read = read
  }

  register(meter: Meter): void {
    const { about } = this
    const name = prometheusName(about)
    const options = { description: about.description }
    const instrument =
      this.#kind === 'count'
        ? meter.createObservableCounter(name, options)
        : meter.createObservableGauge(name, options)
    instrument.addCallback(async (result) => {
      for (const [value, ...values] of await this.#read()) result.observe(value, attributesOf(about, values))
    })
  }
}

function attributesOf({ labels = [] }: About, values: readonly string[]): Attributes {
  const attributes: Attributes = {}
  for (let i = 0; i < labels.length; i++) attributes[labels[i] ?? ''] = values[i] ?? ''
  return attributes
}
