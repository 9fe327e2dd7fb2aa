import type { Field } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { identifier, placeholder, type Statement, sql, type Template, value } from '../../sql.ts'
import { currentLineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import { memoize } from './memoize.ts'
import { jsonValues, valueSeparator } from './record-json.ts'

/** A record to read. */
export interface RecordKey {
  readonly accountId: string
  readonly id: string
}

export interface RecordRow extends TallyState {
  /** The position of the record in the list that was requested, from 1 on. */
  readonly n: string
  /** The current lineage: with the version of the record, it identifies the record's content. */
  readonly lineage: string
  /** Null if there is no record with this id. */
  readonly record_version: string | null
  /** All fields as JSON, in the order of the catalog. Null if there is no record with this id. */
  readonly fields: string | null
}

/**
 * Tallies and records of any accounts in one statement, so from one snapshot. It reads all fields, so that requests for any
 * fields in any order share it.
 */
export function recordsStatement(resource: Resource, keys: readonly RecordKey[]): Statement {
  const template = memoize(templates, resource, () => recordsTemplate(resource))
  // Array literals of PostgreSQL: integers need no quotes.
  return template([
    `{${keys.map(({ accountId }) => accountId).join(',')}}`,
    `{${keys.map(({ id }) => id).join(',')}}`,
  ])
}

/** The record as a JSON object with these fields, in this order. */
export function recordOf(text: string, { fields: all }: Resource, fields: readonly Field[]): string {
  const values = text.split(valueSeparator)
  const members = memoize(memberPositions, fields, () =>
    fields.map((field) => ({
      prefix: `"${field.name}":`,
      position: all.findIndex(({ name }) => name === field.name),
    })),
  )
  return `{${members.map(({ prefix, position }) => prefix + values[position]).join(',')}}`
}

/** All requests without `fields` share the array of their resource's fields. */
const memberPositions = new WeakMap<
  readonly Field[],
  readonly { readonly prefix: string; readonly position: number }[]
>()

const templates = new WeakMap<Resource, Template>()

const accounts = placeholder()
const ids = placeholder()

/** The columns of `RecordRow`. */
export const recordColumns = ({ fields }: Resource) =>
  sql`q.n, ${stateColumns}, ${currentLineageColumn} as lineage, r.version as record_version, ${jsonValues(fields)} as fields`

function recordsTemplate(resource: Resource): Template {
  return sql`select ${recordColumns(resource)}
from unnest(${accounts}::bigint[], ${ids}::bigint[]) with ordinality q(account_id, id, n)
join tally t on t.account_id = q.account_id and t.resource = ${value(resource.name)}::text
left join ${identifier(resource.name)} r on r.account_id = q.account_id and r.id = q.id
where t.account_id = any(${accounts}::bigint[])`.template([accounts, ids], 'record', 'pipelined')
}
