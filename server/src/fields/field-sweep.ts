import { isOwnFieldName } from '../catalog/own-fields.ts'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import { keyTable } from '../writes/record-keys.ts'
import { lockTally } from '../writes/tick.ts'
import { buildKey } from './key-build.ts'
import { deleteValuesOfField } from './value-steps.ts'

/** A deleted field whose values are still stored. */
interface DroppedField extends AccountScope {
  readonly resource: ResourceName
  readonly number: string
  readonly name: string
  readonly isUnique: boolean
}

/**
 * Removes the values of deleted fields, `dropStepRecords` records in each transaction. Requests that began before the deletion may
 * still read them, so it waits for `dropDelayMinutes`. No response shows these values any more, so the removal is not a write to the
 * resource: the versions of records stay. Every process sweeps, and each deletes the row of a field when it finds no value.
 *
 * Also continues to build fields that are becoming unique.
 */
export class FieldSweep {
  readonly #database: Database
  readonly #sweepMs: number
  #sweptAt = performance.now()
  /** The last field that was checked. */
  #after: FieldKey = firstKey

  constructor(database: Database, { journalSweepMs }: Pick<Limits, 'journalSweepMs'>) {
    this.#database = database
    this.#sweepMs = journalSweepMs
  }

  /** Does nothing until the next sweep is due. */
  async run(): Promise<void> {
    if (performance.now() - this.#sweptAt < this.#sweepMs) return
    this.#sweptAt = performance.now()
    await this.sweep(limits.dropDelayMinutes)
  }

  /** Checks the next `droppedFieldsPage` fields, of all accounts. Removes the values of those that were deleted this long ago. */
  async sweep(delayMinutes: number): Promise<void> {
    const found = await this.#database.read<FieldRow>(fieldsAfter(this.#after, delayMinutes))
    const isLast = found.length < limits.droppedFieldsPage
    this.#after = (isLast ? undefined : found.at(-1)) ?? firstKey
    for (const { account_id: accountId, number, name, ...row } of found) {
      const resource = Object.values(resources).find((known) => known.name === row.resource)
      if (resource === undefined) continue
      if (row.dropped === 't') {
        const isUnique = row.is_unique === 't'
        await removeValues(this.#database, { accountId, resource: resource.name, number, name, isUnique })
      } else if (row.builds === 't') {
        const scope = { accountId }
        const write = <T>(work: (transaction: Transaction) => Promise<T>) =>
          this.#database.writeTo(scope, work)
        await buildKey(write, { scope, resource, number }, () => false)
      }
    }
  }
}

interface FieldRow extends FieldKey {
  readonly name: string
  readonly is_unique: string
  readonly dropped: string
  readonly builds: string
}

interface FieldKey {
  readonly account_id: string
  readonly resource: string
  readonly number: string
}

const firstKey: FieldKey = { account_id: '0', resource: '', number: '0' }

async function removeValues(database: Database, field: DroppedField): Promise<void> {
  if (field.isUnique) await removeKeys(database, field)
  // The values of a field of the catalog stay.
  if (!isOwnFieldName(field.name)) {
    await database.writeTo(field, (transaction) => transaction.run(deleteField(field)))
    return
  }
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const start: string = after
    after = await database.writeTo(field, async (transaction) => {
      // Excludes writers, which compute the next values of a record from those that they have read.
      await transaction.form(lockTally)(transaction, field, resources[field.resource])
      const [page] = await transaction.run<{ ids: string[]; last: string | null }>(nextRecords(field, start))
      if (page === undefined || page.last === null) {
        await transaction.run(deleteField(field))
        return undefined
      }
      const range = { from: start, to: page.last }
      if (page.ids.length > 0) await transaction.run(withoutValue(field, page.ids, range))
      await transaction.run(deleteValuesOfField(field, { name: field.resource }, field.number, range))
      return page.last
    })
  }
}

async function removeKeys(database: Database, field: DroppedField): Promise<void> {
  for (let found = true; found; ) {
    const [page] = await database.writeTo(field, (transaction) =>
      transaction.run<{ found: boolean }>(removeKeyPage(field)),
    )
    found = page?.found === true
  }
}

/** Returns whether there may be more. */
function removeKeyPage({ accountId, resource, number }: DroppedField): Statement {
  const table = keyTable({ name: resource })
  const ofField = sql`account_id = ${value(accountId)}::bigint and field = ${value(number)}::bigint`
  return sql`with gone as (
  delete from ${table} where ${ofField} and value <= (
    select max(value) from (select value from ${table} where ${ofField} order by value limit ${value(limits.keyStepRecords)}::int) page)
  returning value
)
select count(*) = ${value(limits.keyStepRecords)}::int as found from gone`.statement('activity')
}

function fieldsAfter(after: FieldKey, delayMinutes: number): Statement {
  return sql`select account_id, resource, number, name, unique_state is not null as is_unique,
  coalesce(state = 'dropping' and dropped_at <= now() - make_interval(mins => ${value(delayMinutes)}::int), false) as dropped,
  coalesce(state = 'stored' and unique_state in ('waiting', 'building') and build_after <= now(), false) as builds from field
where (account_id, resource, number) > (${value(after.account_id)}::bigint, ${value(after.resource)}::text, ${value(after.number)}::bigint)
order by account_id, resource, number limit ${value(limits.droppedFieldsPage)}::int`.statement('activity')
}

/** The next records, and which of them have a value. */
function nextRecords({ accountId, resource, number }: DroppedField, after: string): Statement {
  return sql`select coalesce(array_agg(r.id::text) filter (where r.custom ? ${value(number)}::text), '{}') as ids, max(r.id)::text as last from (
  select id, custom from ${identifier(resource)} where account_id = ${value(accountId)}::bigint and id > ${value(after)}::bigint
  order by id limit ${value(limits.dropStepRecords)}::int) r`.statement('activity')
}

/** Between the ids of the page, so that a planner that expects few records of the account does not read all others. */
function withoutValue(
  { accountId, resource, number }: DroppedField,
  ids: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): Statement {
  return sql`update ${identifier(resource)} set custom = nullif(custom - ${value(number)}::text, '{}')
where account_id = ${value(accountId)}::bigint and id > ${value(from)}::bigint and id <= ${value(to)}::bigint and id = any(${value(ids)}::bigint[])`.statement(
    'activity',
  )
}

function deleteField({ accountId, resource, number }: DroppedField): Statement {
  return sql`delete from field where account_id = ${value(accountId)}::bigint and resource = ${value(resource)}::text
  and number = ${value(number)}::bigint and state = 'dropping'`.statement('activity')
}
