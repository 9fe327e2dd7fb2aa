import type { Filter } from '@quartermaster/filter'
import { Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import { type ListSource, parseFilter } from './list-request.ts'
import { type Parameters, parseParameters } from './parameters.ts'
import type { Named } from './plan.ts'

/** What a summary computes of the values of a field. */
export const aggregates = ['sum', 'min', 'max', 'avg'] as const
export type Aggregate = (typeof aggregates)[number]

/** The parameters of a summary that list names of fields. */
export type NameParameter = 'group' | Aggregate

/** A summary request with valid syntax. Its names and values are not checked yet. */
export interface SummaryRequest {
  readonly filter: Filter | undefined
  /** The decoded text of the filter. Offsets refer to it. */
  readonly filterText: string | undefined
  /** Without duplicates. A name of `group` may end with the unit of a time. */
  readonly names: Readonly<Record<NameParameter, readonly Named[]>>
}

export function parseSummaryRequest(raw: string, source: ListSource): SummaryRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, ['filter', 'group', ...aggregates], faults)
  const names = (parameter: NameParameter) => parseNames(parameters, parameter, faults)
  const request: SummaryRequest = {
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    names: {
      group: names('group'),
      sum: names('sum'),
      min: names('min'),
      max: names('max'),
      avg: names('avg'),
    },
  }
  rejectTooMany(request, faults)
  faults.throwIfAny()
  return request
}

function parseNames(parameters: Parameters, parameter: NameParameter, faults: Faults): readonly Named[] {
  const text = parameters.get(parameter) ?? ''
  if (text === '') return []
  const names = new Map<string, Named>()
  let offset = 0
  for (const name of text.split(',')) {
    if (!names.has(name)) names.set(name, { text: name, offset, length: name.length })
    offset += name.length + 1
  }
  const empty = names.get('')
  if (empty !== undefined) {
    names.delete('')
    faults.add(() => ({
      parameter,
      code: 'field_empty',
      message: 'The list of fields contains an empty name.',
      offset: empty.offset,
      length: 0,
      expected: ['a field name'],
      suggestion: [...names.keys()].join(','),
    }))
  }
  return [...names.values()]
}

function rejectTooMany({ names }: SummaryRequest, faults: Faults): void {
  const { summaryGroupFieldsMax: groupsMax, summaryMeasuresMax: measuresMax } = limits
  const groups = names.group.length
  if (groups > groupsMax) {
    faults.add(() => ({
      parameter: 'group',
      code: 'summary_too_large',
      message: `A summary is grouped by at most ${groupsMax} fields; group has ${groups}.`,
    }))
  }
  const measures = aggregates.reduce((sum, aggregate) => sum + names[aggregate].length, 0)
  if (measures <= measuresMax) return
  const last = aggregates.findLast((aggregate) => names[aggregate].length > 0) ?? 'sum'
  faults.add(() => ({
    parameter: last,
    code: 'summary_too_large',
    message: `A summary has at most ${measuresMax} fields in sum, min, max and avg together; these have ${measures}.`,
  }))
}
