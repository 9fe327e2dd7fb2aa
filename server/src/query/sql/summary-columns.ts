import type { Field, FieldType } from '../../catalog/field.ts'
import { type Fragment, identifier, join, sql, value } from '../../sql.ts'
import type { GroupField, Measure, SummaryPlan } from '../summary-plan.ts'
import { ownParameterTypes } from './field-columns.ts'
import { parameterTypes } from './parameter-types.ts'
import { columnOf } from './where.ts'

/**
 * The columns of a summary. Of each record: `g0`, `g1`, by which it is grouped, and `v0` …, the values that are aggregated. Of each
 * group: `g0`, `g1`, the number `n` of its records, `m0` … of each measure, and `n0` …, the number of values of an average.
 */
export const groupColumn = (at: number) => identifier(`g${at}`)
export const valueColumn = (at: number) => identifier(`v${at}`)
export const measureColumn = (at: number) => identifier(`m${at}`)
export const numberColumn = (at: number) => identifier(`n${at}`)

export function groupColumns({ groups }: SummaryPlan): readonly Fragment[] {
  return groups.map((_, at) => groupColumn(at))
}

/** The fields that are aggregated, each once. */
function measuredFields({ measures }: SummaryPlan): readonly Field[] {
  return [...new Set(measures.map(({ field }) => field))]
}

/** Of a record. */
export function recordColumns(plan: SummaryPlan) {
  const measured = measuredFields(plan)
  return {
    names: [...groupColumns(plan), ...measured.map((_, at) => valueColumn(at))],
    values: [...plan.groups.map(groupValue), ...measured.map(columnOf)],
    refersToOwnField: [...plan.groups.map(({ field }) => field), ...measured].some(isOwn),
  }
}

/** The column of the records with the values of a measure. */
export function measuredColumn(plan: SummaryPlan, { field }: Measure): Fragment {
  return valueColumn(measuredFields(plan).indexOf(field))
}

/** Timestamps of the catalog are instants; those that an account has declared are stored as texts in UTC. */
function groupValue({ field, unit }: GroupField): Fragment {
  const column = columnOf(field)
  if (unit === undefined) return column
  const inUtc = isOwn(field) ? sql`left(${column}, 10)::timestamp` : sql`${column} at time zone 'UTC'`
  return sql`date_trunc(${value(unit)}::text, ${inUtc})`
}

/** The type of a group column. */
export function groupType({ field, unit }: GroupField): Fragment {
  if (unit !== undefined) return sql`timestamp`
  return (isOwn(field) ? ownParameterTypes : parameterTypes)[field.type]
}

/** The type of the stored value. */
export function storedType(field: Field): FieldType {
  return field.type === 'timestamp' && isOwn(field) ? 'text' : field.type
}

function isOwn({ customKey }: Field): boolean {
  return customKey !== undefined
}

export function groupedBy(plan: SummaryPlan): Fragment {
  return plan.groups.length === 0 ? sql`` : sql` group by ${join(groupColumns(plan), ', ')}`
}

/** Of a group, from those of its records. */
export function aggregated(plan: SummaryPlan): readonly Fragment[] {
  return [sql`count(*) as n`, ...plan.measures.flatMap((measure, at) => aggregatedMeasure(plan, measure, at))]
}

function aggregatedMeasure(plan: SummaryPlan, measure: Measure, at: number): readonly Fragment[] {
  const column = measuredColumn(plan, measure)
  const name = measureColumn(at)
  switch (measure.aggregate) {
    case 'sum':
      return [sql`coalesce(sum(${column}), 0) as ${name}`]
    case 'avg':
      return [sql`coalesce(sum(${column}), 0) as ${name}`, sql`count(${column}) as ${numberColumn(at)}`]
    case 'min':
      return [sql`min(${column}) as ${name}`]
    case 'max':
      return [sql`max(${column}) as ${name}`]
    default:
      return measure.aggregate satisfies never
  }
}
