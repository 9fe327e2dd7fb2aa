import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { Faults } from '../errors/faults.ts'
import { columnOf } from '../query/sql/where.ts'
import { identifier, join, type Statement, sql, value } from '../sql.ts'
import { valueOfText } from './field-value.ts'
import type { Target } from './record-change.ts'
import { adjustableFields, type RecordValues } from './record-values.ts'

/** The version of a record, and the sum of each field and its delta, by `sumOf` the field. */
export interface SumsRow {
  readonly version: string
  readonly [field: string]: string | null
}

/** The name of a field that the account has declared is no part of a statement's text. */
function sumOf(field: Field): string {
  return field.customKey === undefined ? field.name : `own_${field.customKey}`
}

/** PostgreSQL adds: its decimals are exact. */
export function sumsStatement({ scope, resource, id }: Target, deltas: RecordValues): Statement {
  const sums = adjustableFields(resource)
    .filter(({ name }) => deltas.has(name))
    .map((field) => {
      const delta = value(deltas.get(field.name))
      return sql`trim_scale(${columnOf(field)} + ${delta}::numeric)::text as ${identifier(sumOf(field))}`
    })
  return sql`select version::text as version, ${join(sums, ', ')} from ${identifier(resource.name)}
where account_id = ${value(scope.accountId)}::bigint and id = ${value(id)}::bigint`.statement('update')
}

/** The sums as values of their fields. Throws if a field cannot have one. */
export function checkedSums(resource: Resource, deltas: RecordValues, row: SumsRow): RecordValues {
  const faults = new Faults()
  const values = new Map<string, string | null>()
  for (const field of adjustableFields(resource)) {
    const { name } = field
    if (!deltas.has(name)) continue
    const sum = row[sumOf(field)] ?? null
    const checked =
      sum === null ? { reason: 'is null: set it before you adjust it' } : valueOfText(field, sum)
    if (typeof checked === 'string') values.set(name, checked)
    else {
      const message =
        sum === null ? `${name} ${checked.reason}.` : `${name} would be ${sum}, which ${checked.reason}.`
      faults.add(() => ({ pointer: `/${name}`, code: 'value_out_of_range', message }))
    }
  }
  const [first] = faults.listed
  if (first !== undefined)
    throw new Failure('adjustment_impossible', `${first.message} Nothing was written.`, faults.listed)
  return values
}
