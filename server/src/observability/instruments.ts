import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import { limits } from '../limits.ts'

/**
 * Numbers kept in plain arrays and read out when somebody asks, in OpenTelemetry's data model. Its own synchronous
 * instruments sort and hash their attributes at every call: 1.0 µs a call against 0.1 µs here (docs/adr/0032).
 */

export interface About {
  /** By OpenTelemetry's semantic conventions where they have one. */
  readonly name: string
  readonly unit: 's' | 'By' | '1' | `{${string}}`
  readonly description: string
  /** Names of attributes, three at most. Their values come from closed lists of ours. */
  readonly labels?: readonly string[]
}

export interface Instrument {
  readonly about: About
  collect(from: HrTime, to: HrTime): Promise<MetricData>
}

/** What Prometheus expects at the end of a name, which OpenTelemetry's exporter leaves out. */
const suffixes: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes', '1': '_ratio' }

export function prometheusName({ name, unit }: About): string {
  return `${name.replaceAll('.', '_')}${suffixes[unit] ?? ''}`
}

const overflow: Attributes = { 'otel.metric.overflow': true }

/** One number, or one set of buckets, for each combination of label values that came. */
abstract class Accumulator<Point> {
  readonly about: About
  readonly #points = new Map<string, { readonly attributes: Attributes; readonly point: Point }>()

  constructor(about: About) {
    this.about = about
  }

  protected abstract fresh(): Point

  protected at(a: string, b: string, c: string): Point {
    const found = this.#points.get(`${a}\n${b}\n${c}`)
    return found === undefined ? this.#added(a, b, c) : found.point
  }

  /** More combinations than there can be are a defect of ours; they share one series rather than fill the memory. */
  #added(...values: [string, string, string]): Point {
    const isFull = this.#points.size >= limits.metricSeriesMax
    const key = isFull ? '' : values.join('\n')
    const labels = this.about.labels ?? []
    const attributes = isFull ? overflow : Object.fromEntries(labels.map((label, i) => [label, values[i]]))
    const entry = this.#points.get(key) ?? { attributes, point: this.fresh() }
    this.#points.set(key, entry)
    return entry.point
  }

  protected dataPoints<Value>(startTime: HrTime, endTime: HrTime, shown: (point: Point) => Value) {
    return [...this.#points.values()].map(({ attributes, point }) => ({
      startTime,
      endTime,
      attributes,
      value: shown(point),
    }))
  }
}

export class Counter extends Accumulator<{ value: number }> implements Instrument {
  protected fresh(): { value: number } {
    return { value: 0 }
  }

  add(amount: number, a = '', b = '', c = ''): void {
    this.at(a, b, c).value += amount
  }

  async collect(from: HrTime, to: HrTime): Promise<MetricData> {
    const dataPoints = this.dataPoints(from, to, ({ value }) => value)
    return { ...headOf(this.about), dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
  }
}

interface Buckets {
  readonly counts: Float64Array
  sum: number
  count: number
}

export class Histogram extends Accumulator<Buckets> implements Instrument {
  readonly #boundaries: readonly number[]

  constructor(about: About, boundaries: readonly number[]) {
    super(about)
    this.#boundaries = boundaries
  }

  protected fresh(): Buckets {
    return { counts: new Float64Array(this.#boundaries.length + 1), sum: 0, count: 0 }
  }

  record(value: number, a = '', b = '', c = ''): void {
    const buckets = this.at(a, b, c)
    let i = 0
    while (i < this.#boundaries.length && value > (this.#boundaries[i] ?? 0)) i++
    buckets.counts[i] = (buckets.counts[i] ?? 0) + 1
    buckets.sum += value
    buckets.count++
  }

  async collect(from: HrTime, to: HrTime): Promise<MetricData> {
    const dataPoints = this.dataPoints(from, to, ({ counts, sum, count }) => ({
      buckets: { boundaries: [...this.#boundaries], counts: [...counts] },
      sum,
      count,
    }))
    return { ...headOf(this.about), dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
}

/** A value and its labels. */
export type Reading = readonly [number, ...string[]]

type Read = () => readonly Reading[] | Promise<readonly Reading[]>

/** What is looked at only when it is asked for: a state, or a count that somebody else keeps. */
export class Observed implements Instrument {
  readonly about: About
  readonly #kind: 'state' | 'count'
  readonly #read: Read

  constructor(about: About, kind: 'state' | 'count', read: Read) {
    this.about = about
    this.#kind = kind
    this.#read = read
  }

  async collect(startTime: HrTime, endTime: HrTime): Promise<MetricData> {
    const labels = this.about.labels ?? []
    const dataPoints = (await this.#read()).map(([value, ...values]) => ({
      startTime,
      endTime,
      attributes: Object.fromEntries(labels.map((label, i) => [label, values[i]])),
      value,
    }))
    const head = headOf(this.about)
    return this.#kind === 'count'
      ? { ...head, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
      : { ...head, dataPointType: DataPointType.GAUGE, dataPoints }
  }
}

function headOf(about: About) {
  return {
    descriptor: {
      name: prometheusName(about),
      description: about.description,
      unit: '',
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
}
