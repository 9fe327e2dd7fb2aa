import type { ExportFormat } from '../query/sql/export-statement.ts'

/**
 * Whether an answer may be compressed (RFC 9110, 12.5.3): gzip is named, or `*` where it is not, and not with a weight of 0.
 * What has a parameter other than a weight is passed over.
 */
export function takesGzip(accepted: string | undefined): boolean {
  if (accepted === undefined) return false
  let any = false
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding = '', parameter, more] = item.split(';', 3).map((part) => part.trim())
    const weight = parameter === undefined ? 1 : weightOf(parameter)
    if (weight === undefined || more !== undefined) continue
    if (coding === 'gzip') return weight > 0
    if (coding === '*') any = weight > 0
  }
  return any
}

/** RFC 9110, 12.4.2. Undefined where the parameter is no weight. */
function weightOf(parameter: string): number | undefined {
  const weight = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1]
  return weight === undefined ? undefined : Number(weight)
}

interface Choice {
  readonly format: ExportFormat | 'json'
  /** Named, and not only within a range. */
  readonly named: boolean
  readonly weight: number
}

/**
 * The form that an `Accept` header asks a list in; undefined for JSON. An export is all records, so only the name of its
 * type asks for one, never a range such as `text/*`. What we do not have is passed over, and without anything else
 * the answer is JSON.
 */
export function exportFormatOf(accept: string | undefined): ExportFormat | undefined {
  // Nearly all requests: nothing to weigh.
  if (accept === undefined || !/ndjson|csv/i.test(accept)) return undefined
  let best: Choice | undefined
  for (const item of accept.toLowerCase().split(',')) {
    const choice = choiceOf(item)
    if (choice === undefined || choice.weight === 0) continue
    if (best === undefined || choice.weight > best.weight || isMoreExact(choice, best)) best = choice
  }
  return best === undefined || best.format === 'json' ? undefined : best.format
}

function isMoreExact(one: Choice, other: Choice): boolean {
  return one.weight === other.weight && one.named && !other.named
}

const formats: Readonly<Record<string, { format: Choice['format']; parameters: readonly string[] }>> = {
  'application/x-ndjson': { format: 'ndjson', parameters: ['charset=utf-8'] },
  'text/csv': { format: 'csv', parameters: ['charset=utf-8', 'header=present'] },
  'application/json': { format: 'json', parameters: ['charset=utf-8'] },
  'application/*': { format: 'json', parameters: [] },
  '*/*': { format: 'json', parameters: [] },
}

/** RFC 9110, 12.5.1. */
function choiceOf(item: string): Choice | undefined {
  const [type = '', ...rest] = item.split(';').map((part) => part.trim())
  const known = Object.hasOwn(formats, type) ? formats[type] : undefined
  if (known === undefined) return undefined
  let weight = 1
  for (const parameter of rest) {
    const given = weightOf(parameter)
    if (given !== undefined) weight = given
    else if (!known.parameters.includes(parameter.replaceAll('"', ''))) return undefined
  }
  return { format: known.format, named: !type.endsWith('*'), weight }
}
