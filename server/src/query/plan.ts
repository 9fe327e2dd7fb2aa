import type { Condition, Filter } from '@quartermaster/filter'
import { type Field, type FieldType, operatorsOf, typeNames } from '../catalog/field.ts'
import type { Listed } from '../catalog/listed.ts'
import type { Resource } from '../catalog/resources.ts'
import { type Fault, invalid } from '../errors.ts'
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
export interface ListPlan<Of extends Listed = Resource> {
  readonly resource: Of
  readonly fields: readonly Field[]
  readonly where: Predicate | undefined
  readonly limit: number
}

export function planList<Of extends Listed>(resource: Of, request: ListRequest): ListPlan<Of> {
  const faults: Fault[] = []
  const fields = planFields(resource, request.fields, faults)
  const filter = request.filter && planFilter(resource, request.filter, request.filterText ?? '', faults)
  if (faults.length > 0) throw invalid(faults.slice(0, limits.errorsListedMax))
  return { resource, fields, where: withinIds(resource, request.ids, filter), limit: request.limit }
}

/** The filter within the window of ids. */
function withinIds(
  resource: Listed,
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

export function planOne(resource: Listed, names: readonly string[] | undefined): readonly Field[] {
  const faults: Fault[] = []
  const fields = planFields(resource, names, faults)
  if (faults.length > 0) throw invalid(faults.slice(0, limits.errorsListedMax))
  return fields
}

function planFields(
  resource: Listed,
  names: readonly string[] | undefined,
  faults: Fault[],
): readonly Field[] {
  if (names === undefined) return resource.fields
  const corrected = names.map((name) => fieldOf(resource, name)?.name ?? near(resource, name) ?? name)
  const fields = new Set<Field>()
  let offset = 0
  for (const name of names) {
    const field = fieldOf(resource, name)
    if (field !== undefined) fields.add(field)
    else {
      faults.push({
        parameter: 'fields',
        ...unknownField(resource, name),
        offset,
        length: name.length,
        ...(near(resource, name) === undefined ? {} : { suggestion: [...new Set(corrected)].join(',') }),
      })
    }
    offset += name.length + 1
  }
  return [...fields]
}

function planFilter(resource: Listed, filter: Filter, text: string, faults: Fault[]): Predicate | undefined {
  const unknown = conditionsOf(filter).filter(({ field }) => fieldOf(resource, field.text) === undefined)
  const corrected = corrections(resource, unknown, text)
  for (const { field } of unknown) {
    faults.push({
      parameter: 'filter',
      ...unknownField(resource, field.text),
      offset: field.offset,
      length: field.length,
      ...(near(resource, field.text) === undefined ? {} : { suggestion: corrected }),
    })
  }
  return predicate(resource, filter, text, faults)
}

function predicate(resource: Listed, filter: Filter, text: string, faults: Fault[]): Predicate | undefined {
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

function operatorFits(field: Field, { operator, operatorSpan }: Condition, faults: Fault[]): boolean {
  const operators = operatorsOf[field.type]
  if (operators.includes(operator)) return true
  faults.push({
    parameter: 'filter',
    code: 'operator_not_for_type',
    message:
      `"${operator}" does not go with ${field.name}, which is ${typeNames[field.type]}: ` +
      `it takes ${operators.join(' ')}${instead[field.type] ?? '.'}`,
    offset: operatorSpan.offset,
    length: operatorSpan.length,
    expected: operators,
  })
  return false
}

const instead: Partial<Record<FieldType, string>> = {
  text: '. Text has no order here; use * for a part of it.',
}

function unknownField(resource: Listed, name: string): Pick<Fault, 'code' | 'message' | 'expected'> {
  const meant = near(resource, name)
  const names = resource.fields.map((field) => field.name)
  const shown = name.slice(0, 100)
  return {
    code: 'field_unknown',
    message:
      meant === undefined
        ? `A ${resource.noun} has no field "${shown}". Its fields are ${names.join(', ')}.`
        : `A ${resource.noun} has no field "${shown}". Did you mean ${meant}?`,
    expected: meant === undefined ? names : [meant],
  }
}

/** The filter with every unknown field that is near a known one replaced by it. */
function corrections(resource: Listed, unknown: readonly Condition[], text: string): string {
  let corrected = text
  for (const { field } of unknown.toReversed()) {
    const meant = near(resource, field.text) ?? field.text
    corrected = corrected.slice(0, field.offset) + meant + corrected.slice(field.offset + field.length)
  }
  return corrected
}

function conditionsOf(filter: Filter): Condition[] {
  return filter.kind === 'condition' ? [filter] : filter.terms.flatMap(conditionsOf)
}

function fieldOf(resource: Listed, name: string): Field | undefined {
  return resource.fields.find((field) => field.name === name)
}

function near(resource: Listed, name: string): string | undefined {
  return nearest(
    name.trim(),
    resource.fields.map((field) => field.name),
  )
}
