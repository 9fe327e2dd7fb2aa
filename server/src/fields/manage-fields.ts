import { type Actor, auditStatement, requireAuditQuota } from '../accounts/audit.ts'
import type { FieldType } from '../catalog/field.ts'
import { isOwnFieldName, type UniqueState } from '../catalog/own-fields.ts'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { excerpt } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, type Statement, sql, value } from '../sql.ts'
import { type Duplicate, findDuplicates, type KeyBuild, keyFieldOf } from './key-build.ts'
import { nextSchema } from './next-schema.ts'

/** A field that an account declares, or one of the catalog that it makes unique. */
export interface NewField {
  readonly resource: ResourceName
  readonly name: string
  readonly type: FieldType
  readonly label: string
  readonly unique: boolean
}

/** A field as it is shown. */
export interface OwnField extends NewField {
  /** `product.x_barcode`. */
  readonly id: string
  readonly state: 'ready' | 'building' | 'duplicates'
  readonly created_at: string
}

/** The types of values that can identify a record. */
export const uniqueTypes: readonly FieldType[] = ['text', 'integer']

/** The fields of the catalog that an account can make unique. */
export function uniqueCandidates(resource: ResourceName): readonly string[] {
  return resources[resource].fields.filter(({ canBeUnique }) => canBeUnique).map(({ name }) => name)
}

/** The field of a path or an argument; undefined if the text names none that could exist. */
export function parseFieldId(id: string): { resource: ResourceName; name: string } | undefined {
  const dot = id.indexOf('.')
  const found = Object.values(resources).find((resource) => resource.name === id.slice(0, dot))
  const name = id.slice(dot + 1)
  if (found === undefined || !(isOwnFieldName(name) || uniqueCandidates(found.name).includes(name)))
    return undefined
  return { resource: found.name, name }
}

/** Declares a field. All records have null for it at first. A field of the catalog becomes unique when its values have been read. */
export async function createField(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  created: NewField,
): Promise<OwnField> {
  const { resource, name, type, label, unique } = created
  await requireAuditQuota(transaction, scope, actor)
  const isOwn = isOwnFieldName(name)
  if (!isOwn) await requireDistinct(transaction, scope, created)
  const { before, next, finish } = await nextSchema(transaction, scope, resources[resource])
  const fields = await listFields(transaction, scope, resource)
  if (fields.some((field) => field.name === name))
    throw new Failure(
      'field_exists',
      isOwn
        ? `The account has the field ${resource}.${name} already. Nothing was changed.`
        : `The account has made ${resource}.${name} unique already. Nothing was changed.`,
    )
  if (isOwn && fields.filter((field) => isOwnFieldName(field.name)).length >= limits.ownFieldsMax) {
    throw new Failure(
      'fields_exhausted',
      `The account has ${limits.ownFieldsMax} fields of ${resources[resource].plural}, the maximum. Delete one that is no longer used.`,
    )
  }
  // Requests that were verified before the account had any definitions write without asking for them again.
  const existing: UniqueState = before === '0' ? 'waiting' : 'building'
  const state: UniqueState = !unique ? null : isOwn ? 'ready' : existing
  await transaction.run(
    sql`insert into field (account_id, resource, number, name, type, label, unique_state, build_after)
values (${value(scope.accountId)}::bigint, ${value(resource)}::text, ${value(next)}::bigint, ${value(name)}::text, ${value(type)}::text, ${value(label)}::text,
  ${value(state)}::text, now() + make_interval(secs => ${value(limits.keyFenceSeconds)}::int))`.statement(
      'fields',
    ),
  )
  await finish()
  const field = await getField(transaction, scope, `${resource}.${name}`)
  const details = [type, ...(unique ? ['unique'] : []), ...(label === '' ? [] : [label])].join('; ')
  await transaction.run(auditStatement(scope, actor, { action: 'field.create', subject: field.id, details }))
  return field
}

/** What remains to be built of a field that is becoming unique. */
export async function buildOf(
  transaction: Pick<Transaction, 'run'>,
  scope: AccountScope,
  { resource, name }: Pick<NewField, 'resource' | 'name'>,
): Promise<KeyBuild | undefined> {
  const [row] = await transaction.run<{ number: string }>(
    sql`select number::text as number from field where ${isField(scope, { resource, name })} and unique_state in ('waiting', 'building')`.statement(
      'fields',
    ),
  )
  return row && { scope, resource: resources[resource], number: row.number }
}

async function requireDistinct(
  transaction: Transaction,
  scope: AccountScope,
  { resource, name }: NewField,
): Promise<void> {
  const found = await transaction.run<Duplicate>(
    findDuplicates(scope, resources[resource], keyFieldOf(resources[resource], name, '0')),
  )
  if (found.length === 0) return
  const { noun, plural } = resources[resource]
  const texts = found.map(
    ({ value: text, ids }) =>
      `${JSON.stringify(excerpt(text))} (${ids.length === 2 ? plural : `for example ${plural}`} ${ids.join(', ')})`,
  )
  throw new Failure(
    'values_not_unique',
    `Several ${plural} have the same ${name}: ${texts.join('; ')}. Nothing was changed. Give each ${noun} its own value, or null, and repeat the request.`,
  )
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
  const { finish } = await nextSchema(transaction, scope, resources[resource])
  const before = await getField(transaction, scope, id)
  await finish()
  await transaction.run(
    sql`update field set label = ${value(label)}::text where ${isField(scope, before)}`.statement('fields'),
  )
  const change = { action: 'field.change', subject: id, details: label === '' ? null : label } as const
  await transaction.run(auditStatement(scope, actor, change))
  return await getField(transaction, scope, id)
}

/** Hides the field at once; one of the catalog is not unique any more. `FieldSweep` removes its values later. */
export async function deleteField(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
): Promise<void> {
  const { resource } = await getField(transaction, scope, id)
  const { finish } = await nextSchema(transaction, scope, resources[resource])
  const field = await getField(transaction, scope, id)
  await finish()
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

export async function getField(transaction: Transaction, scope: AccountScope, id: string): Promise<OwnField> {
  const parsed = parseFieldId(id)
  if (parsed === undefined) throw unknownField(id)
  const [field] = await transaction.run<OwnField>(fieldStatement(scope, parsed))
  if (field === undefined) throw unknownField(id)
  return field
}

const fieldColumns = sql`resource || '.' || name as id, resource, name, type, label,
  unique_state is not null as "unique", case unique_state when 'waiting' then 'building' else coalesce(unique_state, 'ready') end as state,
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

function unknownField(id: string): Failure {
  return new Failure('record_unknown', `The account has no field ${JSON.stringify(excerpt(id))}.`)
}
