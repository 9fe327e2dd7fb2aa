import { type ResourceName, resources } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import { lockTally } from '../writes/tick.ts'

/** A deleted field whose values are still stored. */
interface DroppedField extends AccountScope {
  readonly resource: ResourceName
  readonly number: string
}

/**
 * Removes the values of deleted fields, `dropStepRecords` records in each transaction. Requests that began before the deletion may
 * still read them, so it waits for `dropDelayMinutes`. No response shows these values any more, so the removal is not a write to the
 * resource: the versions of records stay. Every process sweeps, and each deletes the row of a field when it finds no value.
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
    const found = await this.#database.read<FieldKey & { dropped: string }>(
      fieldsAfter(this.#after, delayMinutes),
    )
    const isLast = found.length < limits.droppedFieldsPage
    this.#after = (isLast ? undefined : found.at(-1)) ?? firstKey
    for (const { account_id: accountId, resource, number, dropped } of found) {
      const known = Object.values(resources).find(({ name }) => name === resource)
      if (dropped === 't' && known !== undefined)
        await removeValues(this.#database, { accountId, resource: known.name, number })
    }
  }
}

interface FieldKey {
  readonly account_id: string
  readonly resource: string
  readonly number: string
}

const firstKey: FieldKey = { account_id: '0', resource: '', number: '0' }

async function removeValues(database: Database, field: DroppedField): Promise<void> {
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
      if (page.ids.length > 0) await transaction.run(withoutValue(field, page.ids))
      return page.last
    })
  }
}

function fieldsAfter(after: FieldKey, delayMinutes: number): Statement {
  return sql`select account_id, resource, number,
  coalesce(state = 'dropping' and dropped_at <= now() - make_interval(mins => ${value(delayMinutes)}::int), false) as dropped from field
where (account_id, resource, number) > (${value(after.account_id)}::bigint, ${value(after.resource)}::text, ${value(after.number)}::bigint)
order by account_id, resource, number limit ${value(limits.droppedFieldsPage)}::int`.statement('activity')
}

/** The next records, and which of them have a value. */
function nextRecords({ accountId, resource, number }: DroppedField, after: string): Statement {
  return sql`select coalesce(array_agg(r.id::text) filter (where r.custom ? ${value(number)}::text), '{}') as ids, max(r.id)::text as last from (
  select id, custom from ${identifier(resource)} where account_id = ${value(accountId)}::bigint and id > ${value(after)}::bigint
  order by id limit ${value(limits.dropStepRecords)}::int) r`.statement('activity')
}

function withoutValue({ accountId, resource, number }: DroppedField, ids: readonly string[]): Statement {
  return sql`update ${identifier(resource)} set custom = nullif(custom - ${value(number)}::text, '{}')
where account_id = ${value(accountId)}::bigint and id = any(${value(ids)}::bigint[])`.statement('activity')
}

function deleteField({ accountId, resource, number }: DroppedField): Statement {
  return sql`delete from field where account_id = ${value(accountId)}::bigint and resource = ${value(resource)}::text
  and number = ${value(number)}::bigint and state = 'dropping'`.statement('activity')
}
