import type { Field } from '../../catalog/field.ts'
import { limits } from '../../limits/limits.ts'
import { type Fragment, join, nameInText, sql, value } from '../../sql.ts'
import type { GroupField, Measure, SummaryPlan } from '../summary-plan.ts'
import { type Aggregate, aggregates } from '../summary-request.ts'
import { valueJson } from './record-json.ts'
import { groupColumn, measureColumn, numberColumn, storedType } from './summary-columns.ts'

/** A group as a JSON object. */
export function groupJson({ groups, measures }: SummaryPlan): Fragment {
  const by = groups.map((group, at) => ({ field: group.field, json: groupValueJson(group, at) }))
  const parts = [sql`'{"group":' || ${objectJson(by)} || ',"count":' || n`]
  for (const aggregate of aggregates) {
    const members = measures.flatMap((measure, at) =>
      measure.aggregate === aggregate ? [{ field: measure.field, json: measureJson(measure, at) }] : [],
    )
    if (members.length > 0) parts.push(sql`',"${nameInText(aggregate)}":' || ${objectJson(members)}`)
  }
  return sql`${join(parts, ' || ')} || '}'`
}

/** A time is the first day of its unit. */
export function groupValueJson({ field, unit }: GroupField, at: number): Fragment {
  const column = groupColumn(at)
  const json =
    unit === undefined ? valueJson(storedType(field), column) : sql`to_char(${column}, '\\"YYYY-MM-DD\\"')`
  return sql`coalesce(${json}, 'null')`
}

interface Member {
  readonly field: Field
  readonly json: Fragment
}

/** The name of a field that a client has declared is a parameter, so that it is no part of a statement's text. */
function objectJson(members: readonly Member[]): Fragment {
  if (members.length === 0) return sql`'{}'`
  const all = members.map(({ field: { name, customKey }, json }, at) => {
    const label = customKey === undefined ? sql`'"${nameInText(name)}":'` : sql`${value(`"${name}":`)}::text`
    return at === 0 ? sql`${label} || ${json}` : sql`',' || ${label} || ${json}`
  })
  return sql`'{' || ${join(all, ' || ')} || '}'`
}

const measureJsons: Record<Aggregate, (measure: Measure, at: number) => Fragment> = {
  sum: (_, at) => sql`trim_scale(${measureColumn(at)})::text`,
  min: valueOrNull,
  max: valueOrNull,
  avg: (_, at) => sql`coalesce(${average(measureColumn(at), numberColumn(at))}::text, 'null')`,
}

function measureJson(measure: Measure, at: number): Fragment {
  return measureJsons[measure.aggregate](measure, at)
}

function valueOrNull({ field }: Measure, at: number): Fragment {
  return sql`coalesce(${valueJson(storedType(field), measureColumn(at))}, 'null')`
}

/**
 * Rounded once, half away from zero: `/` rounds to a number of digits that depends on the operands, and none of it may be rounded
 * again. Null without values.
 */
function average(sum: Fragment, number: Fragment): Fragment {
  const digits = limits.decimalFractionDigitsMax
  const twice = sql`abs(${sum}) * ${value(`2e${digits}`)}::numeric`
  return sql`trim_scale(sign(${sum}) * div(${twice} + ${number}, nullif(2 * ${number}, 0)) * ${value(`1e-${digits}`)}::numeric)`
}
