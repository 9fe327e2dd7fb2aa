import { authorFields } from '../../catalog/authors.ts'
import { etagField, type Field } from '../../catalog/field.ts'
import type { KeyField } from '../../catalog/own-fields.ts'
import { perResource, type Resource } from '../../catalog/resources.ts'
import { identifier, placeholder, type StateStatement, type StateTemplate, sql, value } from '../../sql.ts'
import { currentLineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import { jsonMembers } from './json-members.ts'
import { jsonValues, valueSeparator } from './record-json.ts'

/** A record to read. */
export interface RecordKey {
  readonly accountId: string
  /** Empty if the record is named by the value of a unique field. */
  readonly id: string
  readonly key?: { readonly field: KeyField; readonly value: string } | undefined
  /** Whether who wrote it is read, too. The same for all reads of a statement. */
  readonly withAuthors?: boolean
}

export interface RecordRow extends TallyState {
  /** The position of the record in the list that was requested, from 1 on. */
  readonly n: string
  /** The current lineage: with the version of the record, it identifies the record's content. */
  readonly lineage: string
  /** Only of a record that was named by a key. */
  readonly record_id?: string | null
  /** Null if there is no record with this id. */
  readonly record_version: string | null
  /**
   * All fields as JSON, in the order of the catalog; behind them `custom`, if the resource has fields of its account, and who wrote it, if
   * that was requested. Null if there is no record with this id.
   */
  readonly fields: string | null
}

/**
 * Tallies and records of any accounts in one statement, so from one snapshot. It reads all fields, so that requests for any
 * fields in any order share it.
 */
export function recordsStatement(resource: Resource, reads: readonly RecordKey[]): StateStatement {
  return templates[resource.name][shapeOf(resource, reads)]([accountsOf(reads), idsOf(reads)])
}

/** The same for records that are named by the values of unique fields. */
export function keyedRecordsStatement(resource: Resource, reads: readonly RecordKey[]): StateStatement {
  const { keyed, keyedAuthored } = templates[resource.name]
  return (haveAuthors(reads) ? keyedAuthored : keyed)([accountsOf(reads), ...keysOf(reads)])
}

/** What the statement reads besides the fields of the catalog. */
export type RecordShape = 'plain' | 'own' | 'authored'

export function shapeOf({ schema }: Resource, reads: readonly RecordKey[]): RecordShape {
  if (haveAuthors(reads)) return 'authored'
  return schema === undefined ? 'plain' : 'own'
}

export function haveAuthors([read]: readonly RecordKey[]): boolean {
  return read?.withAuthors === true
}

// Array literals of PostgreSQL: integers need no quotes.
function accountsOf(reads: readonly RecordKey[]): string {
  return `{${reads.map(({ accountId }) => accountId).join(',')}}`
}

export function idsOf(reads: readonly RecordKey[]): string {
  return `{${reads.map(({ id }) => id).join(',')}}`
}

/** The numbers of the unique fields, and the values. */
export function keysOf(reads: readonly RecordKey[]): readonly [numbers: string, texts: readonly string[]] {
  const keys = reads.flatMap(({ key }) => key ?? [])
  return [`{${keys.map(({ field }) => field.key.number).join(',')}}`, keys.map((key) => key.value)]
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
  const columns: readonly Field[] = resource.fields.filter((field) => field.customKey === undefined)
  return fields.map((field) => {
    const prefix = `"${field.name}":`
    if (field.customKey !== undefined) return { prefix, position: columns.length, key: field.customKey }
    if (authorFields.includes(field))
      return { prefix, position: columns.length + 1 + authorFields.indexOf(field), key: undefined }
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
const keyFields = placeholder()
const keyTexts = placeholder()

/** The columns of `RecordRow`. */
export const recordColumns = ({ fields }: Resource, shape: RecordShape) =>
  sql`q.n, ${stateColumns}, ${currentLineageColumn} as lineage, r.version as record_version, ${jsonValues(fields)}${
    shape === 'plain' ? sql`` : sql` || e'\\x1f' || coalesce(r.custom::text, '{}')`
  }${shape === 'authored' ? sql` || e'\\x1f' || ${jsonValues(authorFields)}` : sql``} as fields`

function recordsTemplate(resource: Resource, shape: RecordShape): StateTemplate {
  return sql`select ${recordColumns(resource, shape)}
from unnest(${accounts}::bigint[], ${ids}::bigint[]) with ordinality q(account_id, id, n)
join tally t on t.account_id = q.account_id and t.resource = ${value(resource.name)}::text
left join ${identifier(resource.name)} r on r.account_id = q.account_id and r.id = q.id
where t.account_id = any(${accounts}::bigint[])`.template([accounts, ids], 'record', 'pipelined')
}

/** Accounts with unique fields have definitions, so `custom` is always read. */
function keyedTemplate(resource: Resource, shape: RecordShape): StateTemplate {
  const resourceName = value(resource.name)
  return sql`select r.id as record_id, ${recordColumns(resource, shape)}
from unnest(${accounts}::bigint[], ${keyFields}::bigint[], ${keyTexts}::text[]) with ordinality q(account_id, field, value, n)
join tally t on t.account_id = q.account_id and t.resource = ${resourceName}::text
left join ${identifier(`${resource.name}_key`)} k on k.account_id = q.account_id and k.field = q.field and k.value = q.value
left join ${identifier(resource.name)} r on r.account_id = q.account_id and r.id = k.id
where t.account_id = any(${accounts}::bigint[])`.template(
    [accounts, keyFields, keyTexts],
    'record',
    'pipelined',
  )
}

const templates = perResource((resource) => ({
  plain: recordsTemplate(resource, 'plain'),
  own: recordsTemplate(resource, 'own'),
  authored: recordsTemplate(resource, 'authored'),
  keyed: keyedTemplate(resource, 'own'),
  keyedAuthored: keyedTemplate(resource, 'authored'),
}))
