import { type Field, type FieldType, typeNames } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import type { Fault } from '../errors/errors.ts'
import { excerpt, Faults } from '../errors/faults.ts'
import { nearest } from '../errors/nearest.ts'
import { computedField, fieldOf, type Named, planFilter, storedField } from './plan.ts'
import type { Predicate } from './predicate.ts'
import { type Aggregate, aggregates, type NameParameter, type SummaryRequest } from './summary-request.ts'

/** The spans of time by which the records of a summary can be grouped, in UTC. A week begins on Monday. */
export const groupUnits = ['day', 'week', 'month'] as const
export type GroupUnit = (typeof groupUnits)[number]

export interface GroupField {
  readonly field: Field
  /** Only of a timestamp, which always has one. */
  readonly unit: GroupUnit | undefined
}

export interface Measure {
  readonly aggregate: Aggregate
  readonly field: Field
}

/** A summary request whose names and values were checked against the catalog. */
export interface SummaryPlan {
  readonly resource: Resource
  readonly where: Predicate | undefined
  readonly groups: readonly GroupField[]
  /** In the order of the response: all sums, then all minima, … */
  readonly measures: readonly Measure[]
}

export function planSummary(resource: Resource, request: SummaryRequest): SummaryPlan {
  const faults = new Faults()
  const { names, filter, filterText = '' } = request
  const groups = planGroups(resource, names.group, faults)
  const measures = aggregates.flatMap((aggregate) =>
    planMeasures(resource, aggregate, names[aggregate], faults),
  )
  const where = filter && planFilter(resource, filter, filterText, faults)
  faults.throwIfAny()
  return { resource, where, groups, measures }
}

/** The plan as text: the same for requests with the same response, except for their filters. */
export function summaryKey({ groups, measures }: SummaryPlan): string {
  const by = groups.map(({ field, unit }) => groupText(field, unit))
  return [...by, ...measures.map(({ aggregate, field }) => `${aggregate}(${field.name})`)].join()
}

/** The types of the fields that each parameter accepts. */
export const typesOf: Record<NameParameter, readonly FieldType[]> = {
  group: ['integer', 'decimal', 'text', 'boolean', 'timestamp'],
  sum: ['integer', 'decimal'],
  min: ['integer', 'decimal', 'timestamp'],
  max: ['integer', 'decimal', 'timestamp'],
  avg: ['integer', 'decimal'],
}

function planMeasures(
  resource: Resource,
  aggregate: Aggregate,
  names: readonly Named[],
  faults: Faults,
): readonly Measure[] {
  const accepted = acceptedBy(resource, aggregate)
  const suggestion = suggestionFor(names, (name) => meantBy(name, accepted)?.name)
  return names.flatMap((name) => {
    const field = accepted.find((one) => one.name === name.text)
    if (field !== undefined) return [{ aggregate, field }]
    faults.add(() => ({ ...unacceptable(resource, aggregate, name, accepted), ...suggestion() }))
    return []
  })
}

function planGroups(resource: Resource, names: readonly Named[], faults: Faults): readonly GroupField[] {
  const accepted = acceptedBy(resource, 'group')
  const suggestion = suggestionFor(names, (name) => groupMeantBy(name, accepted))
  const groups: GroupField[] = []
  for (const name of names) {
    const [text, unit] = splitUnit(name.text)
    const field = fieldOf(resource, text)
    const named = { ...name, text, length: text.length }
    if (field === undefined)
      faults.add(() => ({ ...unacceptable(resource, 'group', named, accepted), ...suggestion() }))
    else if (groups.some((group) => group.field === field)) faults.add(() => repeated(name, field))
    else if (!hasUnit(field, unit)) faults.add(() => ({ ...wrongUnit(field, name), ...suggestion() }))
    else groups.push({ field, unit: unitNamed(unit) })
  }
  return groups
}

function splitUnit(text: string): [string, string | undefined] {
  const colon = text.indexOf(':')
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)]
}

function hasUnit({ type }: Field, unit: string | undefined): boolean {
  return type === 'timestamp' ? unitNamed(unit) !== undefined : unit === undefined
}

function unitNamed(text: string | undefined): GroupUnit | undefined {
  return groupUnits.find((unit) => unit === text)
}

function groupText({ name }: Field, unit: string | undefined): string {
  return unit === undefined ? name : `${name}:${unit}`
}

function acceptedBy({ fields }: Resource, parameter: NameParameter): readonly Field[] {
  return fields.filter(({ type }) => typesOf[parameter].includes(type))
}

/** The field with this name, or with the name that was probably meant. */
function meantBy(text: string, accepted: readonly Field[]): Field | undefined {
  const names = accepted.map(({ name }) => name)
  const name = names.includes(text) ? text : nearest(text.trim(), names)
  return accepted.find((field) => field.name === name)
}

function groupMeantBy(text: string, accepted: readonly Field[]): string | undefined {
  const [name, unit = ''] = splitUnit(text)
  const field = meantBy(name, accepted)
  if (field?.type !== 'timestamp') return field?.name
  return groupText(field, unitNamed(unit) ?? nearest(unit.trim(), groupUnits) ?? 'day')
}

/** All faults of a parameter have the same suggestion, computed once: the parameter with all names corrected. */
function suggestionFor(names: readonly Named[], meant: (name: string) => string | undefined) {
  let found: Pick<Fault, 'suggestion'> | undefined
  return () => {
    if (found !== undefined) return found
    const corrected = names.map(({ text }) => meant(text))
    const known = corrected.filter((text) => text !== undefined)
    const fields = known.map((text) => splitUnit(text)[0])
    const isAccepted = known.length === names.length && new Set(fields).size === new Set(known).size
    found = isAccepted ? { suggestion: [...new Set(known)].join(',') } : {}
    return found
  }
}

function unacceptable(
  resource: Resource,
  parameter: NameParameter,
  { text, offset, length }: Named,
  accepted: readonly Field[],
): Fault {
  const field = storedField(resource, text) ?? computedField(resource, text)
  const names = accepted.map(({ name }) => name)
  const accepts = names.length === 0 ? `A ${resource.noun} has none` : `It accepts ${names.join(', ')}`
  const at = { parameter, offset, length }
  if (field === undefined) {
    const meant = meantBy(text, accepted)
    return {
      ...at,
      code: 'field_unknown',
      message: `A ${resource.noun} has no field "${excerpt(text)}". ${meant === undefined ? `${accepts}.` : `Did you mean ${meant.name}?`}`,
      expected: meant === undefined ? names : [meant.name],
    }
  }
  const isStored = storedField(resource, text) !== undefined
  const isIndexed = field.unindexed === undefined
  const kinds = typesOf[parameter].includes('timestamp') ? 'a number or a timestamp' : 'a number'
  return {
    ...at,
    code: 'field_not_for_summary',
    message: !isIndexed
      ? `${text} cannot be used in ${parameter}: it can only be named in fields and in a filter. ${accepts}.`
      : isStored
        ? `${parameter} needs ${kinds}; ${text} is ${typeNames[field.type]}. ${accepts}.`
        : `${text} cannot be used in ${parameter}: it is computed for each response. ${accepts}.`,
    expected: names,
  }
}

function wrongUnit(field: Field, { text, offset, length }: Named): Fault {
  const expected =
    field.type === 'timestamp' ? groupUnits.map((unit) => groupText(field, unit)) : [field.name]
  const message =
    field.type === 'timestamp'
      ? `A timestamp is grouped by its ${groupUnits.join(', ')}: write ${expected.join(' or ')}.`
      : `Only timestamps are grouped by a unit of time; ${field.name} is ${typeNames[field.type]}. Write ${field.name} instead of "${excerpt(text)}".`
  return { parameter: 'group', code: 'group_unit_invalid', message, offset, length, expected }
}

function repeated({ offset, length }: Named, { name }: Field): Fault {
  const message = `group names ${name} more than once. Choose one unit of time.`
  return { parameter: 'group', code: 'group_unit_invalid', message, offset, length }
}
