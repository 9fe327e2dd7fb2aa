import { type Actor, auditStatement, requireAuditQuota } from '../accounts/audit.ts'
import type { FieldType } from '../catalog/field.ts'
import { isOwnFieldName } from '../catalog/own-fields.ts'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { excerpt } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, type Statement, sql, value } from '../sql.ts'
import { lockTally, tickTally } from '../writes/tick.ts'

/** A field that an account declares. */
export interface NewField {
  readonly resource: ResourceName
  readonly name: string
  readonly type: FieldType
  readonly label: string
}

/** A field as it is shown. */
export interface OwnField extends NewField {
  /** `product.x_barcode`. */
  readonly id: string
  readonly created_at: string
}

/** The field of a path or an argument; undefined if the text names none that could exist. */
export function parseFieldId(id: string): { resource: ResourceName; name: string } | undefined {
  const dot = id.indexOf('.')
  const found = Object.values(resources).find((resource) => resource.name === id.slice(0, dot))
  const name = id.slice(dot + 1)
  return found !== undefined && isOwnFieldName(name) ? { resource: found.name, name } : undefined
}

/** Declares a field. All records have null for it at first. */
export async function createField(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  { resource, name, type, label }: NewField,
): Promise<OwnField> {
  await requireAuditQuota(transaction, scope, actor)
  const schema = await nextSchema(transaction, scope, resource)
  const fields = await listFields(transaction, scope, resource)
  if (fields.some((field) => field.name === name))
    throw new Failure(
      'field_exists',
      `The account has the field ${resource}.${name} already. Nothing was changed.`,
    )
  if (fields.length >= limits.ownFieldsMax) {
    throw new Failure(
      'fields_exhausted',
      `The account has ${limits.ownFieldsMax} fields of ${resources[resource].plural}, the maximum. Delete one that is no longer used.`,
    )
  }
  await transaction.run(
    sql`insert into field (account_id, resource, number, name, type, label)
values (${value(scope.accountId)}::bigint, ${value(resource)}::text, ${value(schema)}::bigint, ${value(name)}::text, ${value(type)}::text, ${value(label)}::text)`.statement(
      'fields',
    ),
  )
  const field = await getField(transaction, scope, `${resource}.${name}`)
  const details = label === '' ? type : `${type}; ${label}`
  await transaction.run(auditStatement(scope, actor, { action: 'field.create', subject: field.id, details }))
  return field
}

export async function changeField(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
  { label }: { readonly label: string },
): Promise<OwnField> {
  await requireAuditQuota(transaction, scope, actor)
  const { resource } = await getField(transaction, scope, id)
  await nextSchema(transaction, scope, resource)
  const before = await getField(transaction, scope, id)
  await transaction.run(
    sql`update field set label = ${value(label)}::text where ${isField(scope, before)}`.statement('fields'),
  )
  const change = { action: 'field.change', subject: id, details: label === '' ? null : label } as const
  await transaction.run(auditStatement(scope, actor, change))
  return await getField(transaction, scope, id)
}

/** Hides the field at once. `FieldSweep` removes its values later. */
export async function deleteField(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
): Promise<void> {
  const { resource } = await getField(transaction, scope, id)
  await nextSchema(transaction, scope, resource)
  const field = await getField(transaction, scope, id)
  await transaction.run(
    sql`update field set state = 'dropping', dropped_at = now() where ${isField(scope, field)}`.statement(
      'fields',
    ),
  )
  const change = { action: 'field.delete', subject: id, details: field.type } as const
  await transaction.run(auditStatement(scope, actor, change))
}

/** In the order of their declaration, which is that of responses. */
export async function listFields(
  transaction: Pick<Transaction, 'run'>,
  scope: AccountScope,
  resource?: ResourceName,
): Promise<OwnField[]> {
  const ofResource = resource === undefined ? sql`` : sql` and resource = ${value(resource)}::text`
  return await transaction.run<OwnField>(
    sql`select ${fieldColumns} from field where account_id = ${value(scope.accountId)}::bigint${ofResource} and state = 'stored'
order by resource, number`.statement('fields'),
  )
}

async function getField(transaction: Transaction, scope: AccountScope, id: string): Promise<OwnField> {
  const parsed = parseFieldId(id)
  if (parsed === undefined) throw unknownField(id)
  const [field] = await transaction.run<OwnField>(fieldStatement(scope, parsed))
  if (field === undefined) throw unknownField(id)
  return field
}

const fieldColumns = sql`resource || '.' || name as id, resource, name, type, label,
  to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at`

function fieldStatement(scope: AccountScope, field: Pick<OwnField, 'resource' | 'name'>): Statement {
  return sql`select ${fieldColumns} from field where ${isField(scope, field)}`.statement('fields')
}

function isField(
  { accountId }: AccountScope,
  { resource, name }: Pick<OwnField, 'resource' | 'name'>,
): Fragment {
  return sql`account_id = ${value(accountId)}::bigint and resource = ${value(resource)}::text and name = ${value(name)}::text and state = 'stored'`
}

/**
 * A change of the fields is a write to the resource. Locks its tally, and increments the version of the fields with that of the
 * resource: so it is after every earlier write, and every later request reads the new version with its key.
 */
async function nextSchema(
  transaction: Transaction,
  scope: AccountScope,
  name: ResourceName,
): Promise<string> {
  const resource = resources[name]
  const tally = await transaction.form(lockTally)(transaction, scope, resource)
  if (tally === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  const account = value(scope.accountId)
  const tick = { added: sql`0`, lastId: sql`t.last_id`, more: sql`schema = t.schema + 1, ` }
  await transaction.run(tickTally(account, resource, tick, tally).statement('fields'))
  const [row] = await transaction.run<{ schema: string }>(
    sql`select t.schema::text as schema from tally t where t.account_id = ${account}::bigint and t.resource = ${value(name)}::text`.statement(
      'fields',
    ),
  )
  if (row === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  return row.schema
}

function unknownField(id: string): Failure {
  return new Failure('record_unknown', `The account has no field ${JSON.stringify(excerpt(id))}.`)
}
