import type { ExportFormat } from '../query/export-statement.ts'

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
    const quality = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1]
    if (quality !== undefined) weight = Number(quality)
    else if (!known.parameters.includes(parameter.replaceAll('"', ''))) return undefined
  }
  return { format: known.format, named: !type.endsWith('*'), weight }
}
