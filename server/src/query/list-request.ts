import { type Filter, FilterError, parse } from '@quartermaster/filter'
import { excerpt, Faults } from '../faults.ts'
import { limits } from '../limits.ts'
import { type Parameters, parseParameters } from './parameters.ts'

/** A list as it was asked for: its syntax is right, its names and values are not yet looked at. */
export interface ListRequest {
  /** As they are written, one perhaps twice. Undefined: all fields. */
  readonly fields: readonly string[] | undefined
  readonly filter: Filter | undefined
  /** The decoded text of the filter, that offsets in it refer to. */
  readonly filterText: string | undefined
  readonly ids: IdWindow
  readonly page: number
  readonly limit: number
  /** What was given for parameters that only this list has. */
  readonly chosen: Readonly<Record<string, string>>
}

/**
 * Only records whose id is greater than `after_id` and at most `max_id`. A walk that continues by id narrows the list by
 * these two, beside the filter: to change the filter's text could change its meaning or exceed its bounds.
 */
export interface IdWindow {
  readonly after_id?: number
  readonly max_id?: number
}

/** Parameters of one list alone, each with the values it takes. */
export type Choices = Readonly<Record<string, readonly string[]>>

const listParameters = ['fields', 'filter', 'page', 'limit']
const idParameters = ['after_id', 'max_id'] as const

/** Where a list was asked: the bound of a filter is that of the place it was written in. */
export type ListSource = 'url' | 'body'

/** A list of records: what all lists take, and the window of ids. */
export function parseListRequest(raw: string, source: ListSource): ListRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, [...listParameters, ...idParameters], faults)
  return listRequestOf(parameters, source, faults, { ids: parseIds(parameters, faults) })
}

/** A list for administrators: its records have no ids in order, but it may have parameters of its own. */
export function parseViewRequest(raw: string, source: ListSource, choices: Choices = {}): ListRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, [...listParameters, ...Object.keys(choices)], faults)
  return listRequestOf(parameters, source, faults, { chosen: parseChoices(parameters, choices, faults) })
}

/** All records of a list: it has no pages, so a page or limit that is given was meant for something else. */
export function parseExportRequest(raw: string, source: ListSource): ListRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, [...listParameters, ...idParameters], faults)
  for (const name of ['page', 'limit']) {
    if (!parameters.has(name)) continue
    faults.add(() => ({
      parameter: name,
      code: 'parameter_not_for_export',
      message: `An export has all records that match, so it takes no ${name}. Leave it out, or ask for application/json.`,
    }))
  }
  const request: ListRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    ids: parseIds(parameters, faults),
    page: 1,
    limit: limits.pageRecordsDefault,
    chosen: {},
  }
  faults.throwIfAny()
  return request
}

function listRequestOf(
  parameters: Parameters,
  source: ListSource,
  faults: Faults,
  { ids = {}, chosen = {} }: Partial<Pick<ListRequest, 'ids' | 'chosen'>>,
): ListRequest {
  const request: ListRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    ids,
    page: parseCount(parameters, 'page', limits.pageNumberMax, faults) ?? 1,
    limit: parseCount(parameters, 'limit', limits.pageRecordsMax, faults) ?? limits.pageRecordsDefault,
    chosen,
  }
  faults.throwIfAny()
  return request
}

/** The fields of a single record: the only parameter such a request takes. */
export function parseRecordRequest(raw: string): readonly string[] | undefined {
  const faults = new Faults()
  const parameters = parseParameters(raw, ['fields'], faults)
  const fields = parseFields(parameters, faults)
  faults.throwIfAny()
  return fields
}

/** A request that takes no parameters at all. */
export function parseNoParameters(raw: string): void {
  const faults = new Faults()
  parseParameters(raw, [], faults)
  faults.throwIfAny()
}

function parseFields(parameters: Parameters, faults: Faults): readonly string[] | undefined {
  const text = parameters.get('fields')
  if (text === undefined || text === '') return undefined
  const names = text.split(',')
  const empty = names.indexOf('')
  if (empty >= 0) {
    faults.add(() => ({
      parameter: 'fields',
      code: 'field_empty',
      message: 'The list of fields has an empty name in it.',
      offset: names.slice(0, empty).reduce((sum, name) => sum + name.length + 1, 0),
      length: 0,
      expected: ['a field name'],
      suggestion: names.filter((name) => name !== '').join(','),
    }))
  }
  return names
}

function parseFilter(text: string | undefined, source: ListSource, faults: Faults): Filter | undefined {
  if (text === undefined) return undefined
  const bytesMax = source === 'url' ? limits.filterUrlBytesMax : limits.filterBodyBytesMax
  if (Buffer.byteLength(text) > bytesMax) {
    const instead = source === 'url' ? ' Send longer ones in the body of a QUERY request.' : ''
    faults.add(() => ({
      parameter: 'filter',
      code: 'filter_too_long',
      message: `The filter is ${Buffer.byteLength(text)} bytes long; at most ${bytesMax} are taken here.${instead}`,
    }))
    return undefined
  }
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    faults.add(() => ({ parameter: 'filter', ...error.problem }))
    return undefined
  }
}

function parseIds(parameters: Parameters, faults: Faults): IdWindow {
  const ids: { -readonly [N in keyof IdWindow]: IdWindow[N] } = {}
  for (const name of idParameters) {
    const id = parseCount(parameters, name, limits.integerMax, faults)
    if (id !== undefined) ids[name] = id
  }
  return ids
}

/** Undefined when it is absent; also when it is wrong, and then the fault is noted. */
function parseCount(
  parameters: Parameters,
  name: 'page' | 'limit' | 'after_id' | 'max_id',
  max: number,
  faults: Faults,
): number | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  const min = name.endsWith('_id') ? 0 : 1
  const count = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (count >= min && count <= max) return count
  faults.add(() => ({
    parameter: name,
    code: `${name}_invalid`,
    message: `The ${name} must be an integer from ${min} to ${max}; it is ${quoted(text)}.`,
    expected: [`an integer from ${min} to ${max}`],
  }))
  return undefined
}

function parseChoices(parameters: Parameters, choices: Choices, faults: Faults): Record<string, string> {
  const chosen: Record<string, string> = {}
  for (const [name, values] of Object.entries(choices)) {
    const text = parameters.get(name)
    if (text === undefined) continue
    if (values.includes(text)) {
      chosen[name] = text
      continue
    }
    faults.add(() => ({
      parameter: name,
      code: 'choice_invalid',
      message: `The parameter ${name} is one of ${values.join(', ')}; it is ${quoted(text)}.`,
      expected: values,
    }))
  }
  return chosen
}

function quoted(text: string): string {
  return text === '' ? 'empty' : `"${excerpt(text)}"`
}
