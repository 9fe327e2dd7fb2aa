import { type Resource, resources } from '../catalog/resources.ts'
import { valueTable } from '../query/sql/value-sets.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, type Statement, sql, value } from '../sql.ts'

/** A record whose values leave the database. */
export interface ErasedRecord extends AccountScope {
  readonly resource: Resource
  readonly id: string
}

/** Records of the other resources describe no person. */
export function isErasable({ name }: Pick<Resource, 'name'>): boolean {
  return name === 'partner'
}

/** What an erasure does with a table. */
type Holding =
  /** Removes rows in its transaction. */
  | { readonly inTransaction: (record: ErasedRecord) => Statement }
  /** Searches the table in bounded steps: `log-steps.ts` and `record-steps.ts`. */
  | { readonly inSteps: true }
  /** Has no value of a record that can be erased. */
  | { readonly holds: string }

/**
 * Every table of the database: the only list. A test compares it with the catalog of the database, so that a migration that adds a
 * table must say here what becomes of values in it.
 */
export const places: Readonly<Record<string, Holding>> = {
  ...Object.fromEntries(Object.values(resources).flatMap((resource) => tablesOf(resource))),
  request: { inSteps: true },
  idempotency: { inSteps: true },
  erasure: { holds: 'the values, until the erasure has finished' },
  tombstone: { holds: 'ids' },
  account: { holds: 'settings of the account' },
  api_key: { holds: 'keys' },
  audit: { holds: 'names of keys, webhooks and fields' },
  cors_origins: { holds: 'origins' },
  delivery: { holds: 'counts and statuses' },
  field: { holds: 'definitions' },
  tally: { holds: 'counts' },
  usage: { holds: 'counts' },
  value_index: { holds: 'positions' },
  webhook: { holds: 'addresses and filters that an administrator has written' },
  account_deletion: { holds: 'counts' },
  migration: { holds: 'names of migrations' },
  operator_audit: { holds: 'paths of the operator API' },
  operator_token: { holds: 'tokens' },
}

function tablesOf(resource: Resource): [string, Holding][] {
  const { name } = resource
  const all = [name, `${name}_before`, `${name}_key`, `${name}_value`]
  if (!isErasable(resource)) return all.map((table) => [table, { holds: `values of ${resource.plural}` }])
  const rows = (table: Fragment) => (record: ErasedRecord) =>
    sql`delete from ${table} where ${isOf(record)}`.statement('delete')
  return [
    [name, { inTransaction: rows(identifier(name)) }],
    [`${name}_before`, { inTransaction: rows(identifier(`${name}_before`)) }],
    [`${name}_value`, { inTransaction: rows(valueTable(name)) }],
    // Those that the record has are removed in the transaction, with the help of its unique fields.
    [`${name}_key`, { inSteps: true }],
  ]
}

/** The statements that remove the record and what is found by its id. */
export function removals(record: ErasedRecord): Statement[] {
  const { name } = record.resource
  return Object.entries(places).flatMap(([table, holding]) =>
    'inTransaction' in holding && (table === name || table.startsWith(`${name}_`))
      ? [holding.inTransaction(record)]
      : [],
  )
}

/** The row or rows of the record in a table with an id. */
export function isOf({ accountId, id }: ErasedRecord): Fragment {
  return sql`account_id = ${value(accountId)}::bigint and id = ${value(id)}::bigint`
}
