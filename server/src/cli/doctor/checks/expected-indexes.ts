import { type Resource, resources } from '../../../catalog/resources.ts'

/** An index that the migrations create. A test compares this list with a migrated database. */
export interface ExpectedIndex {
  readonly table: string
  readonly name: string
  readonly kind: 'primary' | 'unique' | 'btree' | 'text'
  readonly columns: readonly string[]
  /** Only of rows in which this column is not null. */
  readonly present?: string
}

const ownTables: readonly ExpectedIndex[] = [
  { table: 'account', name: 'account_pkey', kind: 'primary', columns: ['account_id'] },
  { table: 'account', name: 'account_name_key', kind: 'unique', columns: ['name'] },
  { table: 'api_key', name: 'api_key_pkey', kind: 'primary', columns: ['account_id', 'key_id'] },
  { table: 'api_key', name: 'api_key_account_id_hash_key', kind: 'unique', columns: ['account_id', 'hash'] },
  { table: 'cors_origins', name: 'cors_origins_pkey', kind: 'primary', columns: ['account_id'] },
  { table: 'audit', name: 'audit_pkey', kind: 'primary', columns: ['account_id', 'at', 'id'] },
  { table: 'request', name: 'request_pkey', kind: 'primary', columns: ['account_id', 'at', 'id'] },
  {
    table: 'usage',
    name: 'usage_pkey',
    kind: 'primary',
    columns: ['account_id', 'per', 'at', 'key_id', 'route'],
  },
  { table: 'tally', name: 'tally_pkey', kind: 'primary', columns: ['account_id', 'resource'] },
  { table: 'idempotency', name: 'idempotency_pkey', kind: 'primary', columns: ['account_id', 'key'] },
  { table: 'idempotency', name: 'idempotency_by_age', kind: 'btree', columns: ['account_id', 'created_at'] },
  { table: 'value_index', name: 'value_index_pkey', kind: 'primary', columns: ['account_id', 'resource'] },
  { table: 'field', name: 'field_pkey', kind: 'primary', columns: ['account_id', 'resource', 'number'] },
  {
    table: 'tombstone',
    name: 'tombstone_pkey',
    kind: 'primary',
    columns: ['account_id', 'resource', 'version', 'id'],
  },
  { table: 'erasure', name: 'erasure_pkey', kind: 'primary', columns: ['account_id', 'resource', 'id'] },
  { table: 'erasure', name: 'erasure_open', kind: 'btree', columns: ['account_id'], present: 'terms' },
  { table: 'webhook', name: 'webhook_pkey', kind: 'primary', columns: ['account_id', 'id'] },
  { table: 'delivery', name: 'delivery_pkey', kind: 'primary', columns: ['account_id', 'at', 'id'] },
  { table: 'account_deletion', name: 'account_deletion_pkey', kind: 'primary', columns: ['name'] },
  { table: 'operator_token', name: 'operator_token_pkey', kind: 'primary', columns: ['id'] },
  { table: 'operator_token', name: 'operator_token_hash_key', kind: 'unique', columns: ['hash'] },
  { table: 'operator_audit', name: 'operator_audit_pkey', kind: 'primary', columns: ['at', 'id'] },
]

export const expectedIndexes: readonly ExpectedIndex[] = [
  ...ownTables,
  ...Object.values(resources).flatMap(indexesOf),
]

/** Every field has an index, because it can be in a filter. All text fields together have one for "contains". The change feed reads by version. */
function indexesOf({ name: table, fields }: Resource): ExpectedIndex[] {
  const texts = fields.filter((field) => field.type === 'text').map((field) => field.name)
  return [
    { table, name: `${table}_pkey`, kind: 'primary', columns: ['account_id', 'id'] },
    ...fields
      .filter((field) => field.name !== 'id')
      .map(({ name, isMostlyNull }): ExpectedIndex => {
        const index = { table, kind: 'btree' as const, columns: ['account_id', name, 'id'] }
        return isMostlyNull === true
          ? { ...index, name: `${table}_${name}_present`, present: name }
          : { ...index, name: `${table}_${name}` }
      }),
    { table, name: `${table}_text`, kind: 'text', columns: ['account_id', ...texts] },
    { table, name: `${table}_version`, kind: 'btree', columns: ['account_id', 'version', 'id'] },
    {
      table: `${table}_before`,
      name: `${table}_before_pkey`,
      kind: 'primary',
      columns: ['account_id', 'version', 'id'],
    },
    {
      table: `${table}_key`,
      name: `${table}_key_pkey`,
      kind: 'primary',
      columns: ['account_id', 'field', 'value'],
    },
    ...valueIndexes(`${table}_value`),
  ]
}

function valueIndexes(table: string): ExpectedIndex[] {
  const ofColumn = (present: 'number' | 'text') => ({
    table,
    name: `${table}_${present}`,
    kind: 'btree' as const,
    columns: ['account_id', 'field', present, 'id'],
    present,
  })
  return [
    { table, name: `${table}_pkey`, kind: 'primary', columns: ['account_id', 'id', 'field'] },
    ofColumn('number'),
    ofColumn('text'),
    {
      table,
      name: `${table}_words`,
      kind: 'text',
      columns: ['account_id', 'field', 'text'],
      present: 'text',
    },
  ]
}

/** The SQL that creates it; indexes without blocking writes. */
export function createStatement({ table, name, kind, columns, present }: ExpectedIndex): string {
  const where = present === undefined ? '' : ` where ${present} is not null`
  switch (kind) {
    case 'primary':
      return `alter table ${table} add constraint ${name} primary key (${columns.join(', ')});`
    case 'unique':
      return `alter table ${table} add constraint ${name} unique (${columns.join(', ')});`
    case 'btree':
      return `create index concurrently ${name} on ${table} (${columns.join(', ')})${where};`
    case 'text': {
      const searched = columns.map((column) =>
        isNumber(column) ? column : `${column} collate "default" gin_trgm_ops`,
      )
      return `create index concurrently ${name} on ${table} using gin (${searched.join(', ')}) with (fastupdate = on, gin_pending_list_limit = 1024)${where};`
    }
    default:
      return kind satisfies never
  }
}

/** Of a text index: one of the columns that are compared, not searched. */
export function isNumber(column: string): boolean {
  return column === 'account_id' || column === 'field'
}
