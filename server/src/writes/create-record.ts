import { type Resource, type ResourceName, resources } from '../catalog/resources.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import { parameterTypes } from '../query/sql/parameter-types.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, join, placeholder, type Statement, sql, type Template } from '../sql.ts'
import type { Position } from '../tally-state.ts'
import { type Idempotency, type WriteResult, type Written, writeOnce } from './idempotency.ts'
import { type EtagOf, type RecordValues, writableFields } from './record-values.ts'
import { tickTally } from './tick.ts'

interface InsertedRow extends Position {
  readonly id: string
}

/** Creates a record with the next id. `values` has every required field. */
export async function createRecord(
  database: Database,
  scope: AccountScope,
  resource: Resource,
  values: RecordValues,
  { etagOf, idempotency }: { readonly etagOf: EtagOf; readonly idempotency: Idempotency | undefined },
): Promise<Written> {
  const statement = insertStatement(scope, resource, values)
  const resultOf = ([row]: InsertedRow[]): WriteResult => {
    if (row === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
    return { id: row.id, status: 201, etag: etagOf(row.id, row), record: null }
  }
  if (idempotency === undefined) {
    return { ...resultOf(await database.writeOne<InsertedRow>(statement)), replayed: false }
  }
  return await writeOnce(database, scope, idempotency, async (transaction: Transaction) =>
    resultOf(await transaction.run<InsertedRow>(statement)),
  )
}

/** Increments the tally and inserts the record with the new id and version, in one statement. */
export function insertStatement(scope: AccountScope, resource: Resource, values: RecordValues): Statement {
  const fields = writableFields(resource).map(({ name, absent }) => {
    const value = values.get(name)
    if (value !== undefined) return value
    return absent === null ? null : String(absent)
  })
  return templates[resource.name]([scope.accountId, ...fields])
}

function insertTemplate(resource: Resource): Template {
  const fields = writableFields(resource)
  const account = placeholder()
  const values = fields.map(() => placeholder())
  const columns = fields.map(({ name }) => identifier(name))
  const parameters = fields.map(({ type }, i) => sql`${values[i] ?? account}::${parameterTypes[type]}`)
  // If ids come from another system, those of this service are counted by own_last_id.
  const tick = tickTally(account, resource, {
    added: sql`1`,
    lastId: sql`greatest(t.last_id, coalesce(t.own_last_id, t.last_id) + 1)`,
    ownLastId: sql`t.own_last_id + 1`,
  })
  return sql`with tick as (
  ${tick}
  returning t.version, t.lineages[1] as lineage, coalesce(t.own_last_id, t.last_id) as id
), inserted as (
  insert into ${identifier(resource.name)} (account_id, id, version, created_version, ${join(columns, ', ')}, create_date, write_date)
  select ${account}::bigint, id, version, version, ${join(parameters, ', ')}, now(), now() from tick
  returning id
)
select i.id, k.version, k.lineage from inserted i, tick k`.template(
    [account, ...values],
    'create',
    'pipelined',
  )
}

const templates: Record<ResourceName, Template> = {
  product: insertTemplate(resources.product),
  partner: insertTemplate(resources.partner),
  company: insertTemplate(resources.company),
}
