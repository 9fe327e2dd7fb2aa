import { type KeyField, keyFieldsOf } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { type DefinitionsRow, readDefinitions } from '../fields/definitions.ts'
import type { Connection } from '../postgres/connection.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { sql, value } from '../sql.ts'
import {
  currentSchema,
  type HeldKey,
  hasFieldsOf,
  type KeyChanges,
  removeKeys,
  storedKeys,
} from '../writes/record-keys.ts'
import type { LockedTally } from '../writes/tick.ts'
import { copyText } from './cell.ts'
import { copyIn } from './copy.ts'
import type { RowResource } from './row-resource.ts'
import * as statements from './statements.ts'

/** The unique fields of an account in the transactions of an import, after each has locked the tally. */
export class KeyTable {
  readonly #connection: Connection
  readonly #transaction: Pick<Transaction, 'run' | 'form'>
  readonly #scope: AccountScope
  readonly #resource: RowResource

  constructor(
    connection: Connection,
    transaction: Pick<Transaction, 'run' | 'form'>,
    scope: AccountScope,
    resource: RowResource,
  ) {
    this.#connection = connection
    this.#transaction = transaction
    this.#scope = scope
    this.#resource = resource
  }

  /** The resource with the fields that the account has now. Others may have changed them since the rows were parsed. */
  async currentResource({ schema }: LockedTally): Promise<Resource> {
    const known = this.#resource
    const { run } = this.#transaction
    const [row] = schema === undefined ? await run<{ schema: string }>(currentSchema(this.#scope, known)) : []
    if (hasFieldsOf(this.#scope, known, schema ?? row?.schema)) return known
    return (await readDefinitions((statement) => run<DefinitionsRow>(statement), this.#scope, known.name))
      .resource
  }

  /** The field that names the records of rows, if it is not the id. */
  rowKeyIn(current: Resource): KeyField | undefined {
    const { rowKey, noun } = this.#resource
    if (rowKey === undefined) return undefined
    const found = keyFieldsOf(current).find(({ key }) => key.number === rowKey.key.number)
    if (found !== undefined) return found
    throw new Failure(
      'key_unknown',
      `The unique field ${rowKey.name} of a ${noun} was deleted while rows were written.`,
    )
  }

  /** Copies what is new: 10,000 rows have more values than a statement may have parameters. */
  async change(current: Resource, { removed, added }: KeyChanges): Promise<void> {
    await removeKeys(this.#transaction, this.#scope, current, [...removed, ...added])
    if (added.length === 0) return
    const lines = added.map(({ field, value: text, id }) =>
      [this.#scope.accountId, field.key.number, copyText(text), id].join('\t'),
    )
    await copyIn(this.#connection, statements.copyKeys(current), lines)
  }

  /** The values of the records that a batch of deletions deletes. */
  async ofMissing(
    current: Resource,
    { versionBefore, from, to }: Pick<statements.MissingBatch, 'versionBefore' | 'from' | 'to'>,
  ): Promise<HeldKey[]> {
    if (keyFieldsOf(current).length === 0) return []
    const rows = await this.#transaction.run<{ id: string }>(statements.missingIds(from, to))
    const ids = rows.map(({ id }) => id)
    const condition = sql`r.version <= ${value(versionBefore)}::bigint`
    const stored = await storedKeys(this.#transaction, this.#scope, current, ids, condition)
    return stored.flatMap(({ keys }) => keys)
  }
}
