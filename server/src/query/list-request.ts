import { type Filter, FilterError, parse } from '@quartermaster/filter'
import { excerpt, Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import { type Parameters, parseParameters } from './parameters.ts'

/** A list request with valid syntax. Its names and values are not checked yet. */
export interface ListRequest {
  /** As written, possibly with duplicates. Undefined: all fields. */
  readonly fields: readonly string[] | undefined
  readonly filter: Filter | undefined
  /** The decoded text of the filter. Offsets refer to it. */
  readonly filterText: string | undefined
  /** Each word must occur in a text field. */
  readonly search: readonly string[] | undefined
  readonly ids: IdWindow
  /** Undefined: by id. */
  readonly sort: SortRequest | undefined
  readonly page: number
  readonly limit: number
  /** Values of the parameters that only this list has. */
  readonly chosen: Readonly<Record<string, string>>
}

/**
 * Only records whose id is greater than `after_id` and at most `max_id`. A client that pages by id passes these as
 * parameters of their own, because adding them to the filter could change its meaning or exceed its limits.
 */
export interface IdWindow {
  readonly after_id?: number
  readonly max_id?: number
}

/** `sort=name`, or `sort=-name`. */
export interface SortRequest {
  readonly name: string
  readonly isDescending: boolean
}

/** Parameters that only one list has, each with its allowed values. */
export type Choices = Readonly<Record<string, readonly string[]>>

const listParameters = ['fields', 'filter', 'page', 'limit']
const recordParameters = [...listParameters, 'search', 'sort', 'after_id', 'max_id']
const idParameters = ['after_id', 'max_id'] as const

/** Where the parameters were sent: a filter in a URL has a lower length limit than one in a body. */
export type ListSource = 'url' | 'body'

/** A list of records: the parameters of every list, and the window of ids. */
export function parseListRequest(raw: string, source: ListSource): ListRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, recordParameters, faults)
  const sort = parseSort(parameters.get('sort'), faults)
  if (sort !== undefined && parameters.has('after_id')) {
    faults.add(() => ({
      parameter: 'after_id',
      code: 'sort_invalid',
      message:
        'after_id continues in the order of ids, so it cannot be combined with sort. Use page, or omit sort.',
    }))
  }
  const search = parseSearch(parameters.get('search'), faults)
  return listRequestOf(parameters, source, faults, { ids: parseIds(parameters, faults), search, sort })
}

/** A list for administrators: without a window of ids, but possibly with parameters of its own. */
export function parseViewRequest(raw: string, source: ListSource, choices: Choices = {}): ListRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, [...listParameters, ...Object.keys(choices)], faults)
  return listRequestOf(parameters, source, faults, { chosen: parseChoices(parameters, choices, faults) })
}

/** All records of a list. It has no pages, so `page` and `limit` are errors. */
export function parseExportRequest(raw: string, source: ListSource): ListRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, recordParameters, faults)
  for (const name of ['page', 'limit', 'sort']) {
    if (!parameters.has(name)) continue
    const property = name === 'sort' ? 'is in the order of ids' : 'contains all matching records'
    faults.add(() => ({
      parameter: name,
      code: 'parameter_not_for_export',
      message: `An export ${property}, so it does not support ${name}. Omit the parameter, or request application/json.`,
    }))
  }
  const request: ListRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    search: parseSearch(parameters.get('search'), faults),
    ids: parseIds(parameters, faults),
    sort: undefined,
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
  { ids = {}, search, sort, chosen = {} }: Partial<Pick<ListRequest, 'ids' | 'search' | 'sort' | 'chosen'>>,
): ListRequest {
  const request: ListRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    search,
    ids,
    sort,
    page: parseCount(parameters, 'page', limits.pageNumberMax, faults) ?? 1,
    limit: parseCount(parameters, 'limit', limits.pageRecordsMax, faults) ?? limits.pageRecordsDefault,
    chosen,
  }
  faults.throwIfAny()
  return request
}

/** A page of the change feed, with valid syntax. The cursor is not decoded yet. */
export interface ChangesRequest extends ListRequest {
  readonly since: string | undefined
  readonly waitSeconds: number
}

/** `isStream`: a stream waits for changes by itself, so it has no `wait`. */
export function parseChangesRequest(raw: string, source: ListSource, isStream: boolean): ChangesRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, ['since', 'limit', 'wait', 'fields', 'filter'], faults)
  if (isStream && parameters.has('wait')) {
    faults.add(() => ({
      parameter: 'wait',
      code: 'parameter_not_for_stream',
      message: 'A stream waits for changes by itself. Omit wait, or request application/json.',
    }))
  }
  const request: ChangesRequest = {
    fields: parseFields(parameters, faults),
    filter: parseFilter(parameters.get('filter'), source, faults),
    filterText: parameters.get('filter'),
    search: undefined,
    ids: {},
    sort: undefined,
    page: 1,
    limit: parseCount(parameters, 'limit', limits.pageRecordsMax, faults) ?? limits.feedPageChangesDefault,
    chosen: {},
    since: parameters.get('since'),
    waitSeconds: parseCount(parameters, 'wait', limits.feedWaitSecondsMax, faults) ?? 0,
  }
  faults.throwIfAny()
  return request
}

/** The fields of a single record: the only parameter of such a request. */
export function parseRecordRequest(raw: string): readonly string[] | undefined {
  const faults = new Faults()
  const parameters = parseParameters(raw, ['fields'], faults)
  const fields = parseFields(parameters, faults)
  faults.throwIfAny()
  return fields
}

/** `mode` of a batch. */
export function parseBatchRequest(raw: string): BatchRequest {
  const faults = new Faults()
  const parameters = parseParameters(raw, ['mode', 'key'], faults)
  const { mode } = parseChoices(parameters, { mode: batchModes }, faults)
  faults.throwIfAny()
  return { mode: batchModes.find((one) => one === mode) ?? 'upsert', key: parameters.get('key') }
}

const batchModes = ['upsert', 'update', 'insert'] as const

export interface BatchRequest {
  readonly mode: (typeof batchModes)[number]
  /** The unique field by which rows name their records. */
  readonly key: string | undefined
}

/** A request without parameters. */
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
      message: 'The list of fields contains an empty name.',
      offset: names.slice(0, empty).reduce((sum, name) => sum + name.length + 1, 0),
      length: 0,
      expected: ['a field name'],
      suggestion: names.filter((name) => name !== '').join(','),
    }))
  }
  return names
}

export function parseFilter(
  text: string | undefined,
  source: ListSource,
  faults: Faults,
): Filter | undefined {
  if (text === undefined) return undefined
  const bytesMax = source === 'url' ? limits.filterUrlBytesMax : limits.filterBodyBytesMax
  if (Buffer.byteLength(text) > bytesMax) {
    const advice = source === 'url' ? ' Send longer filters in the body of a QUERY request.' : ''
    faults.add(() => ({
      parameter: 'filter',
      code: 'filter_too_long',
      message: `The filter is ${Buffer.byteLength(text)} bytes long; the maximum is ${bytesMax}.${advice}`,
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

function parseSearch(text: string | undefined, faults: Faults): readonly string[] | undefined {
  if (text === undefined) return undefined
  const words = [...new Set(text.split(/\s+/).filter((word) => word !== ''))]
  const isValid =
    words.length > 0 &&
    words.length <= limits.searchWordsMax &&
    text.length <= limits.searchCharactersMax &&
    !text.includes('\0')
  if (isValid) return words
  faults.add(() => ({
    parameter: 'search',
    code: 'search_invalid',
    message: `search must be 1 to ${limits.searchWordsMax} words, separated by spaces, with up to ${limits.searchCharactersMax} characters together; it is ${quoted(text)}.`,
    expected: ['words, such as hex bolt'],
  }))
  return undefined
}

function parseSort(text: string | undefined, faults: Faults): SortRequest | undefined {
  if (text === undefined) return undefined
  const isDescending = text.startsWith('-')
  const name = isDescending ? text.slice(1) : text
  if (name !== '' && !name.includes(',')) return { name, isDescending }
  faults.add(() => ({
    parameter: 'sort',
    code: 'sort_invalid',
    message: `sort must be one field, with "-" before it for descending order; it is ${quoted(text)}. Records with equal values are in the order of their ids.`,
    expected: ['a field name', '"-" and a field name'],
  }))
  return undefined
}

function parseIds(parameters: Parameters, faults: Faults): IdWindow {
  const ids: { -readonly [N in keyof IdWindow]: IdWindow[N] } = {}
  for (const name of idParameters) {
    const id = parseCount(parameters, name, limits.integerMax, faults)
    if (id !== undefined) ids[name] = id
  }
  return ids
}

/** Undefined if the parameter is absent, or invalid; then a fault is added. */
function parseCount(
  parameters: Parameters,
  name: 'page' | 'limit' | 'wait' | 'after_id' | 'max_id',
  max: number,
  faults: Faults,
): number | undefined {
  const text = parameters.get(name)
  if (text === undefined) return undefined
  const min = name === 'page' || name === 'limit' ? 1 : 0
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
      message: `The parameter ${name} must be one of ${values.join(', ')}; it is ${quoted(text)}.`,
      expected: values,
    }))
  }
  return chosen
}

function quoted(text: string): string {
  return text === '' ? 'empty' : `"${excerpt(text)}"`
}
