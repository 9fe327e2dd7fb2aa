import { type Condition, type Filter, FilterError, fromSql, parse } from '@quartermaster/filter'
import type { Collection } from '../catalog/collection.ts'
import { type Field, type FieldType, operatorsOf, typeNames } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure, type Fault } from '../errors/errors.ts'
import { excerpt, Faults } from '../errors/faults.ts'
import { nearest } from '../errors/nearest.ts'
import { limits } from '../limits/limits.ts'
import { type FilterSource, predicateOf, suggestionOf, typedValues } from './condition.ts'
import { type IdWindow, type ListRequest, parseViewRequest, type SortRequest } from './list-request.ts'
import type { Predicate, Range } from './predicate.ts'

/** A list request whose names and values were checked against the catalog. All pages of a list share one plan. */
export interface ListPlan<Of extends Collection = Resource> {
  readonly resource: Of
  readonly fields: readonly Field[]
  readonly where: Predicate | undefined
  /** With `after_id`: the id, and the predicate without it. */
  readonly after?: { readonly id: string; readonly where: Predicate | undefined }
  /** Undefined: by id. */
  readonly sort?: Sort
  readonly limit: number
}

/** Records with equal values are in the order of their ids, in the same direction. Those without a value come last. */
export interface Sort {
  readonly field: Field
  readonly isDescending: boolean
}

export function planList<Of extends Collection>(resource: Of, request: ListRequest): ListPlan<Of> {
  const faults = new Faults()
  const fields = planFields(resource, request.fields, faults)
  const conditions = request.filter && planFilter(resource, request.filter, request.filterText ?? '', faults)
  const filter = withWords(resource, request.search, conditions)
  const sort = request.sort && planSort(resource, request.sort, faults)
  faults.throwIfAny()
  const { after_id: afterId, ...rest } = request.ids
  const after = afterId !== undefined && {
    after: { id: String(afterId), where: withinIds(resource, rest, filter) },
  }
  return {
    resource,
    fields,
    where: withinIds(resource, request.ids, filter),
    ...after,
    ...(sort && { sort }),
    limit: request.limit,
  }
}

/** The filter, restricted to records of which each word occurs in a text field, ignoring case. */
function withWords(
  { fields }: Collection,
  words: readonly string[] | undefined,
  filter: Predicate | undefined,
): Predicate | undefined {
  if (words === undefined) return filter
  const texts = fields.filter(({ type }) => type === 'text')
  const each = words.map((word): Predicate => {
    const terms = texts.map((field) =>
      predicateOf({ field, operator: '*', values: [word], spans: [], hasNull: false }),
    )
    return { kind: 'any', terms }
  })
  return { kind: 'all', terms: filter === undefined ? each : [filter, ...each] }
}

/** The filter, restricted to the window of ids. */
function withinIds(
  resource: Collection,
  { after_id, max_id }: IdWindow,
  filter: Predicate | undefined,
): Predicate | undefined {
  const field = fieldOf(resource, 'id')
  if (field === undefined || (after_id === undefined && max_id === undefined)) return filter
  const range: Range = {
    ...(after_id === undefined ? {} : { from: { value: String(after_id), inclusive: false } }),
    ...(max_id === undefined ? {} : { to: { value: String(max_id), inclusive: true } }),
  }
  const window: Predicate = { kind: 'ranges', field, ranges: [range], orNull: false }
  return filter === undefined ? window : { kind: 'all', terms: [window, filter] }
}

export function planRecordFields(
  resource: Collection,
  names: readonly string[] | undefined,
): readonly Field[] {
  const faults = new Faults()
  const fields = planFields(resource, names, faults)
  faults.throwIfAny()
  return fields
}

function planFields(
  resource: Collection,
  names: readonly string[] | undefined,
  faults: Faults,
): readonly Field[] {
  if (names === undefined) return resource.fields
  const fields = new Set<Field>()
  const unknown: Named[] = []
  let offset = 0
  for (const text of names) {
    const field = storedField(resource, text) ?? computedField(resource, text)
    if (field === undefined) unknown.push({ text, offset, length: text.length })
    else fields.add(field)
    offset += text.length + 1
  }
  addUnknown(resource, 'fields', unknown, faults, (meant) =>
    [...new Set(names.map((name) => meant.get(name) ?? name))].join(','),
  )
  return [...fields]
}

function planSort(
  resource: Collection,
  { name, isDescending }: SortRequest,
  faults: Faults,
): Sort | undefined {
  const field = fieldOf(resource, name)
  if (field !== undefined && field.customKey === undefined)
    return field.name === 'id' && !isDescending ? undefined : { field, isDescending }
  const sortable = resource.fields.filter(({ customKey }) => customKey === undefined).map((one) => one.name)
  const meant = nearest(name.trim(), sortable)
  faults.add(() => ({
    parameter: 'sort',
    ...(storedField(resource, name) === undefined && computedField(resource, name) === undefined
      ? unknownField(resource, name, meant)
      : {
          code: 'field_not_sortable',
          message: `${name} has no order in which records can be listed. A ${resource.noun} can be sorted by ${sortable.join(', ')}.`,
          expected: sortable,
        }),
    offset: isDescending ? 1 : 0,
    length: name.length,
    ...suggestionOf(meant && `${isDescending ? '-' : ''}${meant}`),
  }))
  return undefined
}

export function planFilter(
  resource: Collection,
  filter: Filter,
  text: string,
  faults: Faults,
): Predicate | undefined {
  const notStored = conditionsOf(filter)
    .map(({ field }) => field)
    .filter((field) => storedField(resource, field.text) === undefined)
  const unknown = notStored.filter(({ text: name }) => computedField(resource, name) === undefined)
  for (const field of notStored) if (!unknown.includes(field)) faults.add(() => notFilterable(field))
  addUnknown(resource, 'filter', unknown, faults, (meant) => corrected(text, unknown, meant))
  let translation: { readonly text: string | undefined } | undefined
  const translated = () => {
    translation ??= { text: validTranslation(resource, text) }
    return translation.text
  }
  return predicate(resource, filter, { text, fromSql: translated }, faults)
}

/** `list_price<>10 and active='true'` in the filter language, if the text is SQL and the result has no fault. */
function validTranslation(resource: Collection, text: string): string | undefined {
  const translated = fromSql(text)
  if (translated === undefined) return undefined
  const faults = new Faults()
  try {
    const filter = parse(translated)
    if (conditionsOf(filter).some(({ field }) => storedField(resource, field.text) === undefined))
      return undefined
    predicate(resource, filter, { text: translated, fromSql: () => undefined }, faults)
  } catch (error) {
    if (error instanceof FilterError) return undefined
    throw error
  }
  return faults.count === 0 ? translated : undefined
}

function notFilterable({ text, offset, length }: Named): Fault {
  return {
    parameter: 'filter',
    code: 'field_not_filterable',
    message: `${text} cannot be used in a filter: it is computed for each response, and can only be named in fields.`,
    offset,
    length,
  }
}

/** A field name in the request, with its position. */
export type Named = Condition['field']

/**
 * Adds a fault for every unknown name. All have the same suggestion: the entire parameter with all names corrected.
 * Finding the nearest field takes time, so only the first `errorsListedMax` names are looked up, and there is no
 * suggestion if there are more.
 */
export function addUnknown(
  resource: Collection,
  parameter: string,
  unknown: readonly Named[],
  faults: Faults,
  correct: (meant: ReadonlyMap<string, string>) => string,
): void {
  const meant = new Map<string, string>()
  for (const { text } of unknown.slice(0, limits.errorsListedMax)) {
    const found = meant.has(text) ? undefined : nearestField(resource, text, parameter)
    if (found !== undefined) meant.set(text, found)
  }
  const suggestion = meant.size > 0 && unknown.length <= limits.errorsListedMax ? correct(meant) : undefined
  for (const { text, offset, length } of unknown) {
    faults.add(() => {
      const correction = meant.get(text)
      return {
        parameter,
        ...unknownField(resource, text, correction),
        offset,
        length,
        ...(correction === undefined || suggestion === undefined ? {} : { suggestion }),
      }
    })
  }
}

/** The filter with every unknown field replaced by the field that was probably meant. */
function corrected(text: string, unknown: readonly Named[], meant: ReadonlyMap<string, string>): string {
  let [result, from] = ['', 0]
  for (const { text: name, offset, length } of unknown) {
    result += text.slice(from, offset) + (meant.get(name) ?? name)
    from = offset + length
  }
  return result + text.slice(from)
}

function predicate(
  resource: Collection,
  filter: Filter,
  source: FilterSource,
  faults: Faults,
): Predicate | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const terms = filter.terms
        .map((term) => predicate(resource, term, source, faults))
        .filter((term) => term !== undefined)
      return { kind: filter.kind === 'and' ? 'all' : 'any', terms }
    }
    case 'condition': {
      const field = storedField(resource, filter.field.text)
      if (field === undefined || !hasOperator(field, filter, source, faults)) return undefined
      const typed = typedValues(field, filter, source, faults)
      return typed && predicateOf(typed)
    }
    default:
      return filter satisfies never
  }
}

function hasOperator(
  field: Field,
  { operator, operatorSpan }: Condition,
  source: FilterSource,
  faults: Faults,
): boolean {
  const operators = operatorsOf[field.type]
  if (operators.includes(operator)) return true
  faults.add(() => ({
    parameter: 'filter',
    code: 'operator_not_for_type',
    message:
      `"${operator}" cannot be used with ${field.name}, which is ${typeNames[field.type]}: ` +
      `its operators are ${operators.join(' ')}${hints[field.type] ?? '.'}`,
    offset: operatorSpan.offset,
    length: operatorSpan.length,
    expected: operators,
    ...suggestionOf(source.fromSql()),
  }))
  return false
}

const hints: Partial<Record<FieldType, string>> = {
  text: '. Text cannot be compared by order; use * to match a part of it.',
}

function unknownField(
  resource: Collection,
  name: string,
  meant: string | undefined,
): Pick<Fault, 'code' | 'message' | 'expected'> {
  const names = resource.fields.map((field) => field.name)
  return {
    code: 'field_unknown',
    message:
      meant === undefined
        ? `A ${resource.noun} has no field "${excerpt(name)}". Its fields are ${names.join(', ')}.`
        : `A ${resource.noun} has no field "${excerpt(name)}". Did you mean ${meant}?`,
    expected: meant === undefined ? names : [meant],
  }
}

function conditionsOf(filter: Filter): Condition[] {
  return filter.kind === 'condition' ? [filter] : filter.terms.flatMap(conditionsOf)
}

export function fieldOf(resource: Collection, name: string): Field | undefined {
  return resource.fields.find((field) => field.name === name)
}

/** The same, or one that records have only on request. */
export function storedField(resource: Collection, name: string): Field | undefined {
  return fieldOf(resource, name) ?? resource.onRequest?.find((field) => field.name === name)
}

/** A field that only the parameter `fields` may name. */
export function computedField({ computed = [] }: Collection, name: string): Field | undefined {
  return computed.find((field) => field.name === name)
}

function nearestField(
  { fields, onRequest = [], computed = [] }: Collection,
  name: string,
  parameter: string,
): string | undefined {
  const stored = [...fields, ...onRequest]
  const named = parameter === 'fields' ? [...stored, ...computed] : stored
  return nearest(
    name.trim(),
    named.map((field) => field.name),
  )
}

/** Faults that are corrected one after the other. With more, the result is unlikely to be what was meant. */
const repairsMax = 4

/**
 * Reads a request. The parser suggests a corrected text for one fault without knowing the fields, and the text may have others: the
 * syntax of `id[""]` is correct, but "" is not an integer. So each suggestion is corrected further until the service accepts it,
 * or omitted.
 */
export function withAcceptedSuggestions<T>(resource: Collection, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Failure) || error.faults.every(({ suggestion }) => suggestion === undefined))
      throw error
    // Most faults share one suggestion.
    const accepted = new Map<string, string | undefined>()
    const faults = error.faults.map((fault) => {
      const { parameter, suggestion, ...rest } = fault
      if (suggestion === undefined || (parameter !== 'filter' && parameter !== 'fields')) return fault
      const key = `${parameter}=${suggestion}`
      if (!accepted.has(key)) accepted.set(key, acceptedText(resource, parameter, suggestion))
      const text = accepted.get(key)
      return text === undefined ? { parameter, ...rest } : { parameter, ...rest, suggestion: text }
    })
    throw new Failure(error.code, error.message, faults, error.cause)
  }
}

function acceptedText(
  resource: Collection,
  parameter: 'filter' | 'fields',
  suggestion: string,
): string | undefined {
  let text: string | undefined = suggestion
  for (let repairs = 0; text?.isWellFormed() === true && repairs < repairsMax; repairs += 1) {
    const faults = faultsOf(resource, parameter, text)
    if (faults.length === 0) return text
    text = faults.find((fault) => fault.suggestion !== undefined)?.suggestion
  }
  return undefined
}

function faultsOf(resource: Collection, parameter: string, text: string): readonly Fault[] {
  try {
    planList(resource, parseViewRequest(`${parameter}=${encodeURIComponent(text)}`, 'url'))
    return []
  } catch (error) {
    if (error instanceof Failure) return error.faults
    throw error
  }
}
