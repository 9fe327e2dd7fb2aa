import type { Condition, Filter } from '@quartermaster/filter'
import type { Collection } from '../catalog/collection.ts'
import { type Field, type FieldType, operatorsOf, typeNames } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import type { Fault } from '../errors.ts'
import { excerpt, Faults } from '../faults.ts'
import { limits } from '../limits.ts'
import { predicateOf } from './condition.ts'
import type { IdWindow, ListRequest } from './list-request.ts'
import { nearest } from './nearest.ts'
import type { Predicate, Range } from './predicate.ts'
import { typedValues } from './values.ts'

/**
 * A list request whose names and values were held against the catalog: nothing about it can be wrong any more. All pages
 * of a list have the same.
 */
export interface ListPlan<Of extends Collection = Resource> {
  readonly resource: Of
  readonly fields: readonly Field[]
  readonly where: Predicate | undefined
  readonly limit: number
}

export function planList<Of extends Collection>(resource: Of, request: ListRequest): ListPlan<Of> {
  const faults = new Faults()
  const fields = planFields(resource, request.fields, faults)
  const filter = request.filter && planFilter(resource, request.filter, request.filterText ?? '', faults)
  faults.throwIfAny()
  return { resource, fields, where: withinIds(resource, request.ids, filter), limit: request.limit }
}

/** The filter within the window of ids. */
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
    const field = fieldOf(resource, text)
    if (field === undefined) unknown.push({ text, offset, length: text.length })
    else fields.add(field)
    offset += text.length + 1
  }
  addUnknown(resource, 'fields', unknown, faults, (meant) =>
    [...new Set(names.map((name) => meant.get(name) ?? name))].join(','),
  )
  return [...fields]
}

function planFilter(
  resource: Collection,
  filter: Filter,
  text: string,
  faults: Faults,
): Predicate | undefined {
  const unknown = conditionsOf(filter)
    .map(({ field }) => field)
    .filter((field) => fieldOf(resource, field.text) === undefined)
  addUnknown(resource, 'filter', unknown, faults, (meant) => corrected(text, unknown, meant))
  return predicate(resource, filter, text, faults)
}

/** A name of a field as it was written, and where. */
type Named = Condition['field']

/**
 * A fault for every name that is no field. Each has the same suggestion, the whole parameter with all names corrected. To
 * look for the field that was meant takes time, so it is done only for the names that can be listed, and with more
 * unknown names than that there is no suggestion.
 */
function addUnknown(
  resource: Collection,
  parameter: 'fields' | 'filter',
  unknown: readonly Named[],
  faults: Faults,
  correct: (meant: ReadonlyMap<string, string>) => string,
): void {
  const meant = new Map<string, string>()
  for (const { text } of unknown.slice(0, limits.errorsListedMax)) {
    const found = meant.has(text) ? undefined : near(resource, text)
    if (found !== undefined) meant.set(text, found)
  }
  const suggestion = meant.size > 0 && unknown.length <= limits.errorsListedMax ? correct(meant) : undefined
  for (const { text, offset, length } of unknown) {
    faults.add(() => {
      const one = meant.get(text)
      return {
        parameter,
        ...unknownField(resource, text, one),
        offset,
        length,
        ...(one === undefined || suggestion === undefined ? {} : { suggestion }),
      }
    })
  }
}

/** The filter with every unknown field that is near a known one replaced by it. */
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
  text: string,
  faults: Faults,
): Predicate | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const terms = filter.terms
        .map((term) => predicate(resource, term, text, faults))
        .filter((term) => term !== undefined)
      return { kind: filter.kind === 'and' ? 'all' : 'some', terms }
    }
    case 'condition': {
      const field = fieldOf(resource, filter.field.text)
      if (field === undefined || !operatorFits(field, filter, faults)) return undefined
      const typed = typedValues(field, filter, text, faults)
      return typed && predicateOf(typed)
    }
    default:
      return filter satisfies never
  }
}

function operatorFits(field: Field, { operator, operatorSpan }: Condition, faults: Faults): boolean {
  const operators = operatorsOf[field.type]
  if (operators.includes(operator)) return true
  faults.add(() => ({
    parameter: 'filter',
    code: 'operator_not_for_type',
    message:
      `"${operator}" does not go with ${field.name}, which is ${typeNames[field.type]}: ` +
      `it takes ${operators.join(' ')}${instead[field.type] ?? '.'}`,
    offset: operatorSpan.offset,
    length: operatorSpan.length,
    expected: operators,
  }))
  return false
}

const instead: Partial<Record<FieldType, string>> = {
  text: '. Text has no order here; use * for a part of it.',
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

function fieldOf(resource: Collection, name: string): Field | undefined {
  return resource.fields.find((field) => field.name === name)
}

function near(resource: Collection, name: string): string | undefined {
  return nearest(
    name.trim(),
    resource.fields.map((field) => field.name),
  )
}
