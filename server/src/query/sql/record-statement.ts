import { etagField, type Field } from '../../catalog/field.ts'
import { isOwnField } from '../../catalog/own-fields.ts'
import { perResource, type Resource } from '../../catalog/resources.ts'
import { identifier, placeholder, type StateStatement, type StateTemplate, sql, value } from '../../sql.ts'
import { currentLineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import { jsonMembers } from './json-members.ts'
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
  /**
   * All fields as JSON, in the order of the catalog; behind them `custom`, if the resource has fields of its account. Null if there is
   * no record with this id.
   */
  readonly fields: string | null
}

/**
 * Tallies and records of any accounts in one statement, so from one snapshot. It reads all fields, so that requests for any
 * fields in any order share it.
 */
export function recordsStatement(resource: Resource, keys: readonly RecordKey[]): StateStatement {
  // Array literals of PostgreSQL: integers need no quotes.
  const { plain, own } = templates[resource.name]
  return (resource.schema === undefined ? plain : own)([
    `{${keys.map(({ accountId }) => accountId).join(',')}}`,
    `{${keys.map(({ id }) => id).join(',')}}`,
  ])
}

/** A member of a record's JSON object, and the position of its value among all fields; undefined for the ETag. */
export interface RecordMember {
  readonly prefix: string
  readonly position: number | undefined
  /** Of a field of the account: the key of its value in `custom`, which is at this position. */
  readonly key: string | undefined
}

/** The members of a JSON object with these fields, in this order. */
export function membersOf(resource: Resource, fields: readonly Field[]): readonly RecordMember[] {
  const columns: readonly Field[] = resource.fields.filter((field) => !isOwnField(field))
  return fields.map((field) => {
    const prefix = `"${field.name}":`
    if (isOwnField(field)) return { prefix, position: columns.length, key: String(field.number) }
    return { prefix, position: field === etagField ? undefined : columns.indexOf(field), key: undefined }
  })
}

/** The record as a JSON object with these members. `text`: `fields` of its row. `etag`: of the complete record. */
export function recordOf(text: string, members: readonly RecordMember[], etag: () => string): string {
  const values = text.split(valueSeparator)
  let own: ReadonlyMap<string, string> | undefined
  const valueAt = ({ position, key }: RecordMember) => {
    if (position === undefined) return JSON.stringify(etag())
    if (key === undefined) return values[position]
    own ??= jsonMembers(values[position] ?? '{}')
    return own.get(key) ?? 'null'
  }
  return `{${members.map((member) => member.prefix + valueAt(member)).join(',')}}`
}

const accounts = placeholder()
const ids = placeholder()

/** The columns of `RecordRow`. */
export const recordColumns = ({ fields }: Resource, withOwn: boolean) =>
  sql`q.n, ${stateColumns}, ${currentLineageColumn} as lineage, r.version as record_version, ${jsonValues(fields)}${
    withOwn ? sql` || e'\\x1f' || coalesce(r.custom::text, '{}')` : sql``
  } as fields`

function recordsTemplate(resource: Resource, withOwn: boolean): StateTemplate {
  return sql`select ${recordColumns(resource, withOwn)}
from unnest(${accounts}::bigint[], ${ids}::bigint[]) with ordinality q(account_id, id, n)
join tally t on t.account_id = q.account_id and t.resource = ${value(resource.name)}::text
left join ${identifier(resource.name)} r on r.account_id = q.account_id and r.id = q.id
where t.account_id = any(${accounts}::bigint[])`.template([accounts, ids], 'record', 'pipelined')
}

const templates = perResource((resource) => ({
  plain: recordsTemplate(resource, false),
  own: recordsTemplate(resource, true),
}))
