import type { RecordField } from '../catalog/field.ts'
import type { KeyField, UniqueState } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { keyText } from '../query/sql/field-columns.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, type Statement, sql, value } from '../sql.ts'
import { keyTable } from '../writes/record-keys.ts'
import { nextSchema } from './next-schema.ts'

/**
 * Makes a field of the catalog unique, whose values records have already. Each change of its state is a change of the definitions, which
 * writers compare under the lock of the tally. So while it is `building`, every write maintains the table of keys, and each step adds
 * the values of the next records. Only an account without any definitions has writers that do not compare them: its first field is
 * `waiting` until their requests have ended. Any process can continue.
 */
export interface KeyBuild {
  readonly scope: AccountScope
  readonly resource: Resource
  /** Of the field. */
  readonly number: string
}

interface BuildRow {
  readonly name: string
  readonly unique_state: UniqueState
  readonly built_to: string
  readonly is_due: boolean
}

/** Runs steps until none is left, or until `shouldStop`. */
export async function buildKey(
  write: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  build: KeyBuild,
  shouldStop: () => boolean,
): Promise<void> {
  for (let goesOn = true; goesOn && !shouldStop(); )
    goesOn = await write((transaction) => buildStep(transaction, build))
}

/** Returns whether there may be another step now. */
async function buildStep(transaction: Transaction, build: KeyBuild): Promise<boolean> {
  const { scope, resource, number } = build
  const { finish } = await nextSchema(transaction, scope, resource)
  const [row] = await transaction.run<BuildRow>(
    sql`select name, unique_state, coalesce(built_to, 0)::text as built_to, build_after <= now() as is_due
from field where ${isField(build)} and state = 'stored'`.statement('fields'),
  )
  const { unique_state: state = null, built_to: from = '0' } = row ?? {}
  const change = async (to: UniqueState) => {
    await transaction.run(setState(build, to, null))
    await finish()
  }
  if (row === undefined || (state === 'waiting' && !row.is_due)) return false
  if (state === 'waiting') {
    await change('building')
    return true
  }
  if (state !== 'building') return false
  const [page] = await transaction.run<{ last: string | null }>(nextPage(build, from))
  const to = page?.last
  if (to == null) {
    await change('ready')
    return false
  }
  const field = keyFieldOf(resource, row.name, number)
  const range = sql`r.account_id = ${value(scope.accountId)}::bigint and r.id > ${value(from)}::bigint and r.id <= ${value(to)}::bigint`
  await transaction.run(addKeys(build, field, range))
  const [conflict] = await transaction.run(findConflict(build, field, range))
  if (conflict !== undefined) {
    await change('duplicates')
    return false
  }
  await transaction.run(setState(build, 'building', to))
  return true
}

/** The field of the catalog as a key. */
export function keyFieldOf({ fields }: Resource, name: string, number: string): KeyField {
  const field: RecordField | undefined = fields.find((one) => one.name === name)
  if (field === undefined) throw new Error(`no field ${name}`)
  return { ...field, key: { number: Number(number), isReady: false } }
}

function isField({ scope, resource, number }: KeyBuild): Fragment {
  return sql`account_id = ${value(scope.accountId)}::bigint and resource = ${value(resource.name)}::text and number = ${value(number)}::bigint`
}

function nextPage({ scope, resource }: KeyBuild, from: string): Statement {
  return sql`select max(id)::text as last from (
  select id from ${identifier(resource.name)} where account_id = ${value(scope.accountId)}::bigint and id > ${value(from)}::bigint
  order by id limit ${value(limits.keyStepRecords)}::int) r`.statement('fields')
}

function addKeys({ resource, number }: KeyBuild, field: KeyField, range: Fragment): Statement {
  const text = keyText(field, sql`r`)
  return sql`insert into ${keyTable(resource)} (account_id, field, value, id)
select r.account_id, ${value(number)}::bigint, ${text}, r.id from ${identifier(resource.name)} r where ${range} and ${text} is not null
on conflict (account_id, field, value) do nothing`.statement('fields')
}

/**
 * A record in the range whose value is that of another one. Each value is looked up by its complete key: for a join, a planner that
 * expects few keys of the account reads all of them for each record.
 */
function findConflict({ scope, resource, number }: KeyBuild, field: KeyField, range: Fragment): Statement {
  const holder = keyOfValue(scope, resource, number, keyText(field, sql`r`))
  return sql`select r.id from ${identifier(resource.name)} r cross join lateral (${holder}) k
where ${range} and k.id <> r.id limit 1`.statement('fields')
}

/** The record that holds a value: `id`. */
function keyOfValue(
  { accountId }: AccountScope,
  resource: Resource,
  number: string,
  text: Fragment,
): Fragment {
  return sql`select h.id from ${keyTable(resource)} h where h.account_id = ${value(accountId)}::bigint
  and h.field = ${value(number)}::bigint and h.value = ${text} limit 1`
}

function setState(build: KeyBuild, state: UniqueState, builtTo: string | null): Statement {
  return sql`update field set unique_state = ${value(state)}::text, built_to = ${value(builtTo)}::bigint where ${isField(build)}`.statement(
    'fields',
  )
}

/** Adds the values of all records of the account, for a field whose table of keys is empty. Fails if two have the same value. */
export function addAllKeys({ accountId }: AccountScope, resource: Resource, field: KeyField): Statement {
  const text = keyText(field, sql`r`)
  return sql`insert into ${keyTable(resource)} (account_id, field, value, id)
select r.account_id, ${value(field.key.number)}::bigint, ${text}, r.id from ${identifier(resource.name)} r
where r.account_id = ${value(accountId)}::bigint and ${text} is not null`.statement('fields')
}

/** Returns one row: the numbers of records whose value is `missing` in the table of keys, and of values there that no record has, `surplus`. */
export function compareKeys(scope: AccountScope, resource: Resource, field: KeyField): Statement {
  const account = value(scope.accountId)
  const [records, text] = [identifier(resource.name), keyText(field, sql`r`)]
  const { number } = field.key
  return sql`select (
  select count(*) from ${records} r left join lateral (${keyOfValue(scope, resource, String(number), text)}) k on true
  where r.account_id = ${account}::bigint and ${text} is not null and k.id is distinct from r.id)::float8 as missing, (
  select count(*) from ${keyTable(resource)} k left join lateral (
    select ${text} as text from ${records} r where r.account_id = ${account}::bigint and r.id = k.id limit 1) r on true
  where k.account_id = ${account}::bigint and k.field = ${value(number)}::bigint and r.text is distinct from k.value)::float8 as surplus`.statement(
    'fields',
  )
}

export function removeAllKeys({ accountId }: AccountScope, resource: Resource, field: KeyField): Statement {
  return sql`delete from ${keyTable(resource)} where account_id = ${value(accountId)}::bigint and field = ${value(field.key.number)}::bigint`.statement(
    'fields',
  )
}

/** A value that several records have. */
export interface Duplicate {
  readonly value: string
  readonly ids: readonly string[]
}

/** The first values that several records have. */
export function findDuplicates({ accountId }: AccountScope, resource: Resource, field: KeyField): Statement {
  const text = keyText(field, sql`r`)
  return sql`select ${text} as value, (array_agg(r.id::text order by r.id))[1:${value(limits.duplicateIdsListed)}::int] as ids
from ${identifier(resource.name)} r where r.account_id = ${value(accountId)}::bigint and ${text} is not null
group by ${text} having count(*) > 1 order by ${text} limit ${value(limits.duplicatesListed)}::int`.statement(
    'fields',
  )
}
