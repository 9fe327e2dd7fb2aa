import { invalid } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import type { ExportFormat } from '../../query/sql/export-statement.ts'

export function acceptsGzip(accepted: string | undefined): boolean {
  return acceptsEncoding(accepted, 'gzip')
}

/**
 * Whether Accept-Encoding allows a coding (RFC 9110, 12.5.3): it lists the coding, or `*` without it, with a weight above 0.
 * A coding with a parameter other than a weight is ignored.
 */
export function acceptsEncoding(accepted: string | undefined, wanted: 'gzip' | 'br'): boolean {
  if (accepted === undefined) return false
  let anyAccepted = false
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding = '', parameter, more] = item.split(';', 3).map((part) => part.trim())
    const weight = parameter === undefined ? 1 : weightOf(parameter)
    if (weight === undefined || more !== undefined) continue
    if (coding === wanted) return weight > 0
    if (coding === '*') anyAccepted = weight > 0
  }
  return anyAccepted
}

/** Parses `q=0.5` (RFC 9110, 12.4.2). Undefined if the parameter is not a weight. */
function weightOf(parameter: string): number | undefined {
  const weight = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1]
  return weight === undefined ? undefined : Number(weight)
}

/** One media range of an Accept header. */
interface Choice {
  readonly format: ExportFormat | 'json'
  /** An exact type, not a range such as `text/*`. */
  readonly isExact: boolean
  readonly weight: number
}

/**
 * The export format that an `Accept` header selects; undefined for JSON. An export sends all records, so only an exact type
 * selects one, never a range such as `text/*`. Unsupported types are ignored; if none is supported, the response is JSON.
 * An unknown form of an export is rejected.
 */
export function exportFormatOf(accept: string | undefined): ExportFormat | undefined {
  // Nearly all requests end here.
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
  return one.weight === other.weight && one.isExact && !other.isExact
}

const formats: Readonly<Record<string, { format: Choice['format']; parameters: readonly string[] }>> = {
  'application/x-ndjson': { format: 'ndjson', parameters: ['charset=utf-8'] },
  'text/csv': { format: 'csv', parameters: ['charset=utf-8', 'header=present'] },
  'application/json': { format: 'json', parameters: ['charset=utf-8'] },
  'application/*': { format: 'json', parameters: [] },
  '*/*': { format: 'json', parameters: [] },
}

/** Parses one media range (RFC 9110, 12.5.1). Undefined if it is unsupported. */
function choiceOf(item: string): Choice | undefined {
  const [type = '', ...rest] = item.split(';').map((part) => part.trim())
  const supported = Object.hasOwn(formats, type) ? formats[type] : undefined
  if (supported === undefined) return undefined
  let { format } = supported
  let weight = 1
  for (const parameter of rest) {
    const parsed = weightOf(parameter)
    const unquoted = parameter.replaceAll('"', '')
    if (parsed !== undefined) weight = parsed
    else if (format !== 'json' && unquoted.startsWith('form=')) format = formOf(format, unquoted)
    else if (!supported.parameters.includes(unquoted)) return undefined
  }
  return { format, isExact: !type.endsWith('*'), weight }
}

/** Rejects every other form: without it the response would have other cells than the client expects. */
function formOf(format: ExportFormat, parameter: string): ExportFormat {
  if (format !== 'ndjson' && parameter === 'form=spreadsheet') return 'spreadsheet'
  throw invalid({
    parameter: 'Accept',
    code: 'header_invalid',
    message: `${excerpt(parameter)} is unknown. Accept text/csv for exact texts, or text/csv; form=spreadsheet for a file to open in a spreadsheet.`,
    expected: ['text/csv', 'text/csv; form=spreadsheet'],
  })
}

/** Whether an `Accept` header selects Server-Sent Events. Only the exact type does, as with exports. */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === undefined || !/event-stream/i.test(accept)) return false
  let [stream, json] = [0, 0]
  for (const item of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = weightOf(parameters.find((parameter) => parameter.startsWith('q=')) ?? 'q=1') ?? 0
    if (type === 'text/event-stream') stream = weight
    else if (type === 'application/json') json = weight
  }
  return stream > 0 && stream >= json
}
