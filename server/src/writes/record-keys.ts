import { type KeyField, keyFieldsOf } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { excerpt } from '../errors/faults.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { recordsById } from '../query/sql/by-id.ts'
import { keyText } from '../query/sql/field-columns.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../sql.ts'
import type { RecordValues } from './record-values.ts'
import type { LockedTally } from './tick.ts'

/**
 * The values of unique fields. Each is a row of a table whose primary key is account, field and value, so that PostgreSQL finds a record
 * by it and rejects a second one. All functions run after the tally was locked: until the transaction ends, nobody else changes a value.
 * Each statement writes one table of one account.
 */
export interface KeyValue {
  readonly field: KeyField
  readonly value: string
}

/** Which record has a value of a key. */
export interface HeldKey extends KeyValue {
  readonly id: string
}

type Runs = Pick<Transaction, 'run'>

/** Thrown by a write whose account has changed its fields since the request was verified. The write is then repeated with these. */
export class DefinitionsChanged extends Failure {
  constructor() {
    super('overloaded', "The account's fields are being changed. Nothing was written; try again.")
  }
}

/** Under the lock of the tally, the definitions of the account do not change any more. */
export function requireSameFields({ accountId }: AccountScope, resource: Resource, tally: LockedTally): void {
  if (!hasFieldsOf({ accountId }, resource, tally.schema)) throw new DefinitionsChanged()
}

/** Whether the resource has the fields of this version. Without a version: the resource has none, and nothing was read. */
export function hasFieldsOf(
  { accountId }: AccountScope,
  { schema }: Resource,
  version: string | undefined,
): boolean {
  return version === undefined || schema === (version === '0' ? undefined : `${accountId}.${version}`)
}

/** The unique values among those of a record. */
export function keyValues(resource: Resource, values: RecordValues): KeyValue[] {
  return keyFieldsOf(resource).flatMap((field) => {
    const text = values.get(field.name)
    return text == null ? [] : [{ field, value: text }]
  })
}

/** The version of the account's fields, for a writer that had none when it began. */
export function currentSchema({ accountId }: AccountScope, { name }: Resource): Statement {
  return sql`select t.schema::text as schema from tally t
where t.account_id = ${value(accountId)}::bigint and t.resource = ${value(name)}::text`.statement('update')
}

export function nameOfKey({ field, value: text }: KeyValue): string {
  return `${field.key.number} ${text}`
}

/** The records that have these values, by `nameOfKey`. */
export async function holdersOf(
  transaction: Runs,
  { accountId }: AccountScope,
  resource: Resource,
  wanted: readonly KeyValue[],
): Promise<Map<string, string>> {
  const holders = new Map<string, string>()
  const account = value(accountId)
  for (const [field, keys] of Map.groupBy(wanted, (key) => key.field)) {
    const values = [...new Set(keys.map((key) => key.value))]
    // The record is read as well: a value that it does not have is one that it had before the field was unique. Value by value: for
    // "value = any(…)" a planner that expects few keys of the account reads all of them.
    const rows = await transaction.run<{ value: string; id: string }>(
      sql`select q.value, k.id::text as id from unnest(${value(values)}::text[]) q(value)
cross join lateral (${keyWith(resource, account, field, sql`id`)}) k
cross join lateral (select from ${identifier(resource.name)} r where r.account_id = ${account}::bigint and r.id = k.id
  and ${keyText(field, sql`r`)} = q.value limit 1) r`.statement('update'),
    )
    for (const row of rows) holders.set(nameOfKey({ field, value: row.value }), row.id)
  }
  return holders
}

export interface StoredKeys {
  readonly id: string
  readonly version: string
  readonly keys: readonly HeldKey[]
}

/** The versions and unique values of the records with these ids that match `condition`. */
export async function storedKeys(
  transaction: Runs,
  { accountId }: AccountScope,
  resource: Resource,
  ids: readonly string[],
  condition: Fragment = sql`true`,
): Promise<StoredKeys[]> {
  const fields = keyFieldsOf(resource)
  const texts = fields.map((field) => keyText(field, sql`r`))
  const records = recordsById(
    identifier(resource.name),
    value(accountId),
    sql`${value(ids)}::bigint[]`,
    sql`*`,
  )
  const rows = await transaction.run<{ id: string; version: string; texts: (string | null)[] }>(
    sql`select r.id::text as id, r.version::text as version, array[${join(texts, ', ')}]::text[] as texts
from ${records} where ${condition}`.statement('update'),
  )
  return rows.map(({ id, version, texts: found }) => ({
    id,
    version,
    keys: fields.flatMap((field, i) => {
      const text = found[i]
      return text == null ? [] : [{ field, value: text, id }]
    }),
  }))
}

/** Throws if a record has one of the values. */
export function requireFree(
  resource: Resource,
  wanted: readonly KeyValue[],
  holders: ReadonlyMap<string, string>,
): void {
  const taken = wanted.flatMap((key) => {
    const id = holders.get(nameOfKey(key))
    return id === undefined ? [] : [{ ...key, id }]
  })
  const [first] = taken
  if (first === undefined) return
  throw new Failure(
    'key_taken',
    `${takenText(resource, first)} Nothing was written.`,
    taken.map((key) => ({
      pointer: `/${key.field.name}`,
      code: 'value_taken',
      message: takenText(resource, key),
      record: Number(key.id),
    })),
  )
}

function takenText({ noun }: Resource, { field, value: text, id }: HeldKey): string {
  return `${field.name} ${JSON.stringify(excerpt(text))} is that of ${noun} ${id}.`
}

/** The difference between the values that records had and those that they have now. */
export function keyChanges(before: readonly HeldKey[], after: readonly HeldKey[]): KeyChanges {
  const nameOf = (key: HeldKey) => `${key.id} ${nameOfKey(key)}`
  const [had, have] = [new Set(before.map(nameOf)), new Set(after.map(nameOf))]
  return {
    removed: before.filter((key) => !have.has(nameOf(key))),
    added: after.filter((key) => !had.has(nameOf(key))),
  }
}

/** Removes the values of records that have lost them, and adds those that others have gained. */
export async function changeKeys(
  transaction: Pick<Transaction, 'run' | 'form'>,
  scope: AccountScope,
  resource: Resource,
  { removed, added }: KeyChanges,
): Promise<void> {
  await removeKeys(transaction, scope, resource, [...removed, ...added])
  if (added.length > 0) await transaction.run(insertKeys(scope, resource, added))
}

export interface KeyChanges {
  readonly removed: readonly HeldKey[]
  readonly added: readonly HeldKey[]
}

/** Also of values that are added: a record that does not exist any more may have one of them. */
export async function removeKeys(
  transaction: Pick<Transaction, 'run' | 'form'>,
  scope: AccountScope,
  resource: Resource,
  keys: readonly KeyValue[],
): Promise<void> {
  const statementOf = transaction.form(deleteKeys)
  for (const [field, found] of Map.groupBy(keys, (key) => key.field)) {
    const values = found.map((key) => key.value)
    await transaction.run(statementOf(scope, resource, field, values))
  }
}

/** By their addresses: so PostgreSQL finds each by its complete key, however few keys it expects of the account. */
export function deleteKeys(
  { accountId }: AccountScope,
  resource: Resource,
  field: KeyField,
  values: readonly string[],
): Statement {
  return sql`delete from ${keyTable(resource)} where ctid = any(array(
  select k.ctid from unnest(${value(values)}::text[]) q(value)
  cross join lateral (${keyWith(resource, value(accountId), field, sql`ctid`)}) k))`.statement('update')
}

/** The column of the key with the value `q.value`. */
function keyWith(resource: Resource, account: Value, { key }: KeyField, column: Fragment): Fragment {
  return sql`select ${column} from ${keyTable(resource)} where account_id = ${account}::bigint
  and field = ${value(key.number)}::bigint and value = q.value limit 1`
}

function insertKeys({ accountId }: AccountScope, resource: Resource, added: readonly HeldKey[]): Statement {
  const account = value(accountId)
  const rows = added.map(
    ({ field, value: text, id }) =>
      sql`(${account}::bigint, ${value(field.key.number)}::bigint, ${value(text)}::text, ${value(id)}::bigint)`,
  )
  return sql`insert into ${keyTable(resource)} (account_id, field, value, id) values ${join(rows, ', ')}`.statement(
    'update',
  )
}

export function keyTable({ name }: Pick<Resource, 'name'>): Fragment {
  return identifier(`${name}_key`)
}
