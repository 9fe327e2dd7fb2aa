import { compareDecimals, type Decimal, decimal, plainDecimal } from '../filter-proof/decimal.ts'
import { memoize } from '../filter-proof/memoize.ts'
import type { Field, PlainRecord, Resource } from '../filter-proof/schema.ts'
import { isoText, timestampMs } from '../filter-proof/timestamp.ts'
import type { Random } from '../random.ts'

/** A reference implementation of summaries: one record at a time, with exact decimals. It shares no code with the service. */

export const aggregates = ['sum', 'min', 'max', 'avg'] as const
type Aggregate = (typeof aggregates)[number]
const units = ['day', 'week', 'month'] as const

export interface SummaryRequest {
  readonly groups: readonly { readonly field: Field; readonly unit: (typeof units)[number] | undefined }[]
  readonly fields: Readonly<Record<Aggregate, readonly Field[]>>
}

/** Above this number of groups the service rejects the request. */
const groupsMax = 1000
/** Digits of an average after the decimal point. */
const averageDigits = 12

/** The response to a summary: `data` and `meta` with all numbers as texts; or, for too many groups, their number. */
export function summarize(request: SummaryRequest, records: readonly PlainRecord[]): string | number {
  const groups = new Map<string, PlainRecord[]>()
  if (request.groups.length === 0) groups.set('[]', [])
  for (const record of records) {
    const key = JSON.stringify(valuesOf(request, record))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [record])
    else group.push(record)
  }
  if (groups.size > groupsMax) return groups.size
  const data = [...groups.values()]
    .map((members) => ({ members, values: valuesOf(request, members[0] ?? {}) }))
    .toSorted((a, b) => compareValues(request, a.values, b.values))
    .map(({ members, values }) => groupOf(request, members, values))
  const meta = { count: String(data.length), total: String(records.length) }
  return JSON.stringify({ data, meta })
}

type Value = string | boolean | null

function valuesOf({ groups }: SummaryRequest, record: PlainRecord): Value[] {
  return groups.map(({ field, unit }) => {
    const value = record[field.name] ?? null
    if (typeof value !== 'string') return value
    if (isNumber(field)) return plainDecimal(decimal(value))
    return unit === undefined ? value : firstDay(value, unit)
  })
}

const dayMs = 86_400_000n

function firstDay(timestamp: string, unit: (typeof units)[number]): string {
  if (unit === 'month') return `${timestamp.slice(0, 7)}-01`
  const midnight = timestampMs(timestamp.slice(0, 10))
  if (unit === 'day') return isoText(midnight).slice(0, 10)
  // 1969-12-29 was a Monday.
  const sinceMonday = (midnight / dayMs + 3n) % 7n
  return isoText(midnight - ((sinceMonday + 7n) % 7n) * dayMs).slice(0, 10)
}

function compareValues({ groups }: SummaryRequest, a: readonly Value[], b: readonly Value[]): number {
  for (const [at, { field }] of groups.entries()) {
    const order = compareTwo(field, a[at] ?? null, b[at] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareTwo(field: Field, a: Value, b: Value): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  if (typeof a === 'boolean' || typeof b === 'boolean') return Number(a) - Number(b)
  return isNumber(field)
    ? compareDecimals(decimalOf(a), decimalOf(b))
    : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function groupOf(request: SummaryRequest, members: readonly PlainRecord[], values: readonly Value[]): object {
  const group = Object.fromEntries(request.groups.map(({ field }, at) => [field.name, values[at]]))
  const measured = aggregates.flatMap((aggregate) => {
    const fields = request.fields[aggregate]
    if (fields.length === 0) return []
    return [[aggregate, Object.fromEntries(fields.map((f) => [f.name, measure(aggregate, f, members)]))]]
  })
  return { group, count: String(members.length), ...Object.fromEntries(measured) }
}

function measure(aggregate: Aggregate, field: Field, members: readonly PlainRecord[]): string | null {
  const values = members.flatMap((record) => {
    const value = record[field.name]
    return typeof value === 'string' ? [value] : []
  })
  if (aggregate === 'sum') return plainDecimal(sumOf(values))
  if (values.length === 0) return null
  if (aggregate === 'avg') return averageOf(sumOf(values), BigInt(values.length))
  const sign = aggregate === 'min' ? -1 : 1
  const last = values.reduce((best, value) => (compareTwo(field, value, best) * sign > 0 ? value : best))
  return isNumber(field) ? plainDecimal(decimal(last)) : last
}

// The same records are evaluated for every summary, so parsed values are cached.
const decimalOf = memoize(decimal)

function sumOf(values: readonly string[]): Decimal {
  return values.map(decimalOf).reduce(add, { digits: 0n, scale: 0 })
}

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  const digits = a.digits * 10n ** BigInt(scale - a.scale) + b.digits * 10n ** BigInt(scale - b.scale)
  return { digits, scale }
}

/** By long division to one digit more, by which it is rounded. */
function averageOf({ digits, scale }: Decimal, count: bigint): string {
  const size = digits < 0n ? -digits : digits
  const more = (size * 10n ** BigInt(averageDigits + 1)) / (count * 10n ** BigInt(scale))
  const rounded = more / 10n + (more % 10n >= 5n ? 1n : 0n)
  return plainDecimal({ digits: digits < 0n ? -rounded : rounded, scale: averageDigits })
}

function isNumber({ type }: Field): boolean {
  return type === 'integer' || type === 'decimal'
}

export function randomSummary(random: Random, { fields }: Resource): SummaryRequest {
  const some = (from: readonly Field[], most: number) =>
    random.shuffled(from).slice(0, random.integer(0, most))
  const numbers = fields.filter(isNumber)
  const ordered = fields.filter((field) => isNumber(field) || field.type === 'timestamp')
  const groups = some(fields, 2).map((field) => ({
    field,
    unit: field.type === 'timestamp' ? random.pick(units) : undefined,
  }))
  return {
    groups,
    fields: {
      sum: some(numbers, 2),
      min: some(ordered, 2),
      max: some(ordered, 1),
      avg: some(numbers, 2),
    },
  }
}

/** The parameters of the request, in any order. */
export function queryOf(
  random: Random,
  { groups, fields }: SummaryRequest,
  filter: string | undefined,
): string {
  const names = (of: readonly Field[]) => of.map(({ name }) => name).join(',')
  const group = groups.map(({ field, unit }) => (unit === undefined ? field.name : `${field.name}:${unit}`))
  const parts = [
    ...(group.length === 0 ? [] : [`group=${group.join(',')}`]),
    ...aggregates.flatMap((aggregate) =>
      fields[aggregate].length === 0 ? [] : [`${aggregate}=${names(fields[aggregate])}`],
    ),
    ...(filter === undefined ? [] : [`filter=${encodeURIComponent(filter)}`]),
  ]
  return random.shuffled(parts).join('&')
}
