import { perResource, type Resource } from '../catalog/resources.ts'
import { parameterTypes } from '../query/sql/parameter-types.ts'
import type { AccountScope } from '../scope.ts'
import {
  type Fragment,
  identifier,
  join,
  placeholder,
  type Statement,
  sql,
  type Template,
  value,
} from '../sql.ts'
import type { Position } from '../tally-state.ts'
import { type RecordValues, writableColumns } from './record-values.ts'
import { tickTallies, tickTally } from './tick.ts'

/** A record to create. `values` has every required field. */
export interface Create {
  readonly scope: AccountScope
  readonly author: string
  readonly values: RecordValues
  /** The values of the account's own fields, as JSON. */
  readonly custom?: string | undefined
  /** Of the resource, after this one was created. */
  readonly recordsMax: number
}

export interface InsertedRow extends Position {
  readonly id: string
}

/** The same for every account: values of fields that it has declared have no columns. */
const columnsOf = perResource(writableColumns)

/** Increments the tally and inserts the record with the new id and version, in one statement. Returns no row if the account is at its quota. */
export function insertStatement(resource: Resource, create: Create): Statement {
  const { scope, author, values, custom, recordsMax } = create
  const passed = [scope.accountId, String(recordsMax), author, ...valuesOf(resource, values)]
  const { plain, own } = templates[resource.name]
  return custom === undefined ? plain.one(passed) : own.one([...passed, custom])
}

/** The same for different accounts, except those whose tally another transaction has locked, and those at their quota. */
export function insertAllStatement(resource: Resource, creates: readonly Create[]): Statement {
  const rows = creates.map(({ values }) => valuesOf(resource, values))
  const columns = columnsOf[resource.name].map((_, i) => rows.map((row) => row[i]))
  const passed = [
    creates.map(({ scope }) => scope.accountId),
    creates.map(({ recordsMax }) => String(recordsMax)),
    creates.map(({ author }) => author),
    ...columns,
  ]
  const { plain, own } = templates[resource.name]
  if (creates.every(({ custom }) => custom === undefined)) return plain.all(passed)
  return own.all([...passed, creates.map(({ custom }) => custom ?? null)])
}

export function valuesOf({ name: resource }: Resource, values: RecordValues): (string | null)[] {
  return columnsOf[resource].map(({ name, absent }) => {
    const given = values.get(name)
    if (given !== undefined) return given
    return absent === null ? null : String(absent)
  })
}

/** If ids come from another system, those of this service are counted by own_last_id. */
export const tickOfCreate = {
  added: sql`1`,
  lastId: sql`greatest(t.last_id, coalesce(t.own_last_id, t.last_id) + 1)`,
  ownLastId: sql`t.own_last_id + 1`,
}

/** A column that a create fills. */
interface InsertedColumn {
  readonly name: string
  readonly type: Fragment
}

/** `withOwn`: also the values of fields that the account has declared. */
export function insertedColumns(resource: Resource, withOwn: boolean): readonly InsertedColumn[] {
  const columns = columnsOf[resource.name].map(({ name, type }) => ({ name, type: parameterTypes[type] }))
  return withOwn ? [...columns, { name: 'custom', type: sql`jsonb` }] : columns
}

function insertTemplate(resource: Resource, fields: readonly InsertedColumn[]): Template {
  const [account, max, author] = [placeholder(), placeholder(), placeholder()]
  const values = fields.map(() => placeholder())
  const columns = fields.map(({ name }) => identifier(name))
  const parameters = fields.map(({ type }, i) => sql`${values[i] ?? account}::${type}`)
  return sql`with tick as (
  ${tickTally(account, resource, tickOfCreate)} and t.total < ${max}::bigint
  returning t.version, t.written_at, t.lineages[1] as lineage, coalesce(t.own_last_id, t.last_id) as id
), inserted as (
  insert into ${identifier(resource.name)} (account_id, id, version, created_version, ${join(columns, ', ')}, create_date, write_date, created_by, changed_by)
  select ${account}::bigint, id, version, version, ${join(parameters, ', ')}, written_at, written_at, ${author}::text, ${author}::text from tick
  returning id
)
select i.id, k.version, k.lineage from inserted i, tick k`.template(
    [account, max, author, ...values],
    'create',
    'pipelined',
  )
}

function insertAllTemplate(resource: Resource, fields: readonly InsertedColumn[]): Template {
  const [accounts, maxima, authors] = [placeholder(), placeholder(), placeholder()]
  const values = fields.map(() => placeholder())
  const columns = join(
    fields.map(({ name }) => identifier(name)),
    ', ',
  )
  const arrays = fields.map(({ type }, i) => sql`${values[i] ?? accounts}::${type}[]`)
  return sql`with q as (
  select * from unnest(${accounts}::bigint[], ${maxima}::bigint[], ${authors}::text[], ${join(arrays, ', ')}) with ordinality q(account_id, records_max, author, ${columns}, n)
), free as (
  select t.account_id, t.total from tally t
  where t.account_id = any(${accounts}::bigint[]) and t.resource = ${value(resource.name)}::text for update skip locked
), accepted as (
  select free.account_id from free join q on q.account_id = free.account_id where free.total < q.records_max
), tick as (
  ${tickTallies(sql`accepted`, resource, tickOfCreate)}
  returning t.account_id, t.version, t.written_at, t.lineages[1] as lineage, coalesce(t.own_last_id, t.last_id) as id
), inserted as (
  insert into ${identifier(resource.name)} (account_id, id, version, created_version, ${columns}, create_date, write_date, created_by, changed_by)
  select k.account_id, k.id, k.version, k.version, ${join(
    fields.map(({ name }) => sql`q.${identifier(name)}`),
    ', ',
  )}, k.written_at, k.written_at, q.author, q.author from tick k join q on q.account_id = k.account_id
)
select q.n, k.id, k.version, k.lineage from tick k join q on q.account_id = k.account_id`.template(
    [accounts, maxima, authors, ...values],
    'create',
    'generic',
  )
}

const templates = perResource((resource) => {
  const templatesOf = (columns: readonly InsertedColumn[]) => ({
    one: insertTemplate(resource, columns),
    all: insertAllTemplate(resource, columns),
  })
  return {
    plain: templatesOf(insertedColumns(resource, false)),
    own: templatesOf(insertedColumns(resource, true)),
  }
})
