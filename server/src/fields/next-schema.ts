import type { Resource } from '../catalog/resources.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { sql, value } from '../sql.ts'
import { currentSchema } from '../writes/record-keys.ts'
import { lockTally, tickTally } from '../writes/tick.ts'

/** A change of an account's definitions, which holds the lock of the tally. */
export interface SchemaChange {
  /** The version of the definitions before the change. */
  readonly before: string
  /** The version that they will have. */
  readonly next: string
  /** Increments the version of the definitions with that of the resource, so that every later request reads it with its key. */
  readonly finish: () => Promise<void>
}

/** A change of the definitions is a write to the resource: it comes after every earlier write, and has a version of its own. */
export async function nextSchema(
  transaction: Transaction,
  scope: AccountScope,
  resource: Resource,
): Promise<SchemaChange> {
  const tally = await transaction.form(lockTally)(transaction, scope, resource)
  if (tally === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  const account = value(scope.accountId)
  const [row] = await transaction.run<{ schema: string }>(currentSchema(scope, resource))
  if (row === undefined) throw new Error(`the account has no tally of ${resource.plural}`)
  return {
    before: row.schema,
    next: String(BigInt(row.schema) + 1n),
    finish: async () => {
      const tick = { added: sql`0`, lastId: sql`t.last_id`, more: sql`schema = t.schema + 1, ` }
      await transaction.run(tickTally(account, resource, tick, tally).statement('fields'))
    },
  }
}
