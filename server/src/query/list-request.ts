import { type Filter, FilterError, parse } from '@quartermaster/filter'
import { type Fault, invalid } from '../errors.ts'
import { limits } from '../limits.ts'
import { type Parameters, parseParameters } from './parameters.ts'

/** A list as it was asked for: its syntax is right, its names and values are not yet looked at. */
export interface ListRequest {
  /** As they are written, one perhaps twice. Undefined: all fields. */
  readonly fields: readonly string[] | undefined
  readonly filter: Filter | undefined
  /** The decoded text of the filter, that offsets in it refer to. */
  readonly filterText: string | undefined
  readonly page: number
  readonly limit: number
  /** What was given for parameters that only this list has. */
  readonly chosen: Readonly<Record<string, string>>
}

/** Parameters of one list alone, each with the values it takes. */
export type Choices = Readonly<Record<string, readonly string[]>>

const listParameters = ['fields', 'filter', 'page', 'limit']

/** Where a list was asked: the bound of a filter is that of the place it was written in. */
export type ListSource = 'url' | 'body'

export function parseListRequest(raw: string, source: ListSource, choices: Choices = {}): ListRequest {
  const faults: Fault[] = []
  const parameters = parseParameters(raw, [...listParameters, ...Object.keys(choices)], faults)
  const request: ListRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    page: parseCount(parameters, 'page', 1, limits.pageNumberMax, faults),
    limit: parseCount(parameters, 'limit', limits.pageRecordsDefault, limits.pageRecordsMax, faults),
    chosen: parseChoices(parameters, choices, faults),
  }
  if (faults.length > 0) throw invalid(faults)
  return request
}

/** All records of a list: it has no pages, so a page or limit that is given was meant for something else. */
export function parseExportRequest(raw: string, source: ListSource): ListRequest {
  const faults: Fault[] = []
  const parameters = parseParameters(raw, listParameters, faults)
  for (const name of ['page', 'limit']) {
    if (!parameters.has(name)) continue
    faults.push({
      parameter: name,
      code: 'parameter_not_for_export',
      message: `An export has all records that match, so it takes no ${name}. Leave it out, or ask for application/json.`,
    })
  }
  const request: ListRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    page: 1,
    limit: limits.pageRecordsDefault,
    chosen: {},
  }
  if (faults.length > 0) throw invalid(faults)
  return request
}

/** The fields of a single record: the only parameter such a request takes. */
export function parseOneRequest(raw: string): readonly string[] | undefined {
  const faults: Fault[] = []
  const parameters = parseParameters(raw, ['fields'], faults)
  const fields = parseFields(parameters, faults)
  if (faults.length > 0) throw invalid(faults)
  return fields
}

/** A request that takes no parameters at all. */
export function parseNoParameters(raw: string): void {
  const faults: Fault[] = []
  parseParameters(raw, [], faults)
  if (faults.length > 0) throw invalid(faults)
}

function parseFields(parameters: Parameters, faults: Fault[]): readonly string[] | undefined {
  const text = parameters.get('fields')
  if (text === undefined || text === '') return undefined
  let offset = 0
  for (const name of text.split(',')) {
    if (name === '') {
      faults.push({
        parameter: 'fields',
        code: 'field_empty',
        message: 'The list of fields has an empty name in it.',
        offset,
        length: 0,
        expected: ['a field name'],
        suggestion: text
          .split(',')
          .filter((n) => n !== '')
          .join(','),
      })
      break
    }
    offset += name.length + 1
  }
  return text.split(',')
}

function parseFilter(text: string | undefined, source: ListSource, faults: Fault[]): Filter | undefined {
  if (text === undefined) return undefined
  const bytesMax = source === 'url' ? limits.filterUrlBytesMax : limits.filterBodyBytesMax
  if (Buffer.byteLength(text) > bytesMax) {
    const instead = source === 'url' ? ' Send longer ones in the body of a QUERY request.' : ''
    faults.push({
      parameter: 'filter',
      code: 'filter_too_long',
      message: `The filter is ${Buffer.byteLength(text)} bytes long; at most ${bytesMax} are taken here.${instead}`,
    })
    return undefined
  }
  try {
    return parse(text, {
      conditionsMax: limits.filterConditionsMax,
      listValuesMax: limits.filterListValuesMax,
      depthMax: limits.filterDepthMax,
      lengthMax: limits.filterBodyBytesMax,
    })
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    faults.push({ parameter: 'filter', ...error.problem })
    return undefined
  }
}

function parseCount(
  parameters: Parameters,
  name: 'page' | 'limit',
  absent: number,
  max: number,
  faults: Fault[],
): number {
  const text = parameters.get(name)
  if (text === undefined) return absent
  const count = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (count >= 1 && count <= max) return count
  const shown = text === '' ? 'empty' : `"${text.slice(0, 40)}"`
  faults.push({
    parameter: name,
    code: `${name}_invalid`,
    message: `The ${name} must be an integer from 1 to ${max}; it is ${shown}.`,
    expected: [`an integer from 1 to ${max}`],
  })
  return absent
}

function parseChoices(parameters: Parameters, choices: Choices, faults: Fault[]): Record<string, string> {
  const chosen: Record<string, string> = {}
  for (const [name, values] of Object.entries(choices)) {
    const text = parameters.get(name)
    if (text === undefined) continue
    if (values.includes(text)) {
      chosen[name] = text
      continue
    }
    faults.push({
      parameter: name,
      code: 'choice_invalid',
      message: `The parameter ${name} is one of ${values.join(', ')}; it is ${text === '' ? 'empty' : `"${text.slice(0, 40)}"`}.`,
      expected: values,
    })
  }
  return chosen
}
