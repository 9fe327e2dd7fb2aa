import pg from 'pg'
import { type Actor, auditStatement } from '../accounts/audit.ts'
import { checkAccountName, findAccount } from '../accounts/directory.ts'
import { deletionStatement } from '../accounts/lifecycle/deletion.ts'
import { keyFieldsOf } from '../catalog/own-fields.ts'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { type DefinitionsRow, readDefinitions } from '../fields/definitions.ts'
import { addAllKeys } from '../fields/key-build.ts'
import type { Connection } from '../postgres/connection.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import {
  ArchiveError,
  type ArchiveStart,
  type ArchiveTable,
  archiveSettings,
  columnsText,
} from './archive-format.ts'
import { archiveParts } from './read-archive.ts'
import * as statements from './restore-statements.ts'

export interface RestoreOptions {
  readonly client: Connection
  readonly actor: Actor
  readonly bytes: AsyncIterable<Buffer>
  /** Default: the name in the archive. */
  readonly name?: string | undefined
  /** If the account exists, its records are replaced; otherwise the restore is refused. */
  readonly replace: boolean
  readonly withKeys: boolean
  readonly onRows: (count: number) => void
}

export interface RestoredAccount {
  readonly name: string
  readonly exportedAt: string
  readonly replaced: boolean
  readonly keys: number
  readonly records: Readonly<Record<ResourceName, number>>
}

/**
 * Restores an account in one transaction: requests see all of it or nothing, and if anything fails, nothing has changed.
 *
 * The tally gets a version that it never had, and the transaction is part of the state that an `ETag` and a cached response
 * are bound to. So none from before the restore is valid after it. The tally is not written by `tickTally`, so the same is true
 * of every position in the change feed.
 */
export async function restoreAccount(options: RestoreOptions): Promise<RestoredAccount> {
  const { client } = options
  const restored = await inTransaction(client, async () => {
    await client.query(archiveSettings)
    return await new Restore(options).run()
  }).catch((error: unknown) => {
    const isTaken = error instanceof pg.DatabaseError && error.constraint === 'account_name_key'
    if (!isTaken) throw error
    throw new ArchiveError('An account with this name was created meanwhile.', { cause: error })
  })
  for (const [resource, count] of Object.entries(restored.records)) {
    // Updates the planner's statistics now. If this fails, the next autovacuum does it.
    if (count > 0) await client.query(statements.analyze(resource).text).catch(() => {})
  }
  return restored
}

/** The state of one restore, within its transaction. */
class Restore {
  readonly #options: RestoreOptions
  readonly #counts = new Map<string, number>()
  /** Undefined until the account is found or created. */
  #scope: AccountScope | undefined
  #replaced = false
  /** No field that the account had before has a number above it. */
  #numbersFrom = 0
  #tallies: readonly string[] = []

  constructor(options: RestoreOptions) {
    this.#options = options
  }

  async run(): Promise<RestoredAccount> {
    let start: ArchiveStart | undefined
    let table: ArchiveTable | undefined
    for await (const part of archiveParts(this.#options.bytes)) {
      if (part.kind === 'start') {
        start = part.start
        await this.#begin(start)
      } else if (part.kind === 'table') {
        table = part.table
        await this.#checkColumns(table, start)
      } else {
        await this.#write(table, part.rows)
        this.#options.onRows(part.rows.length)
      }
    }
    if (start === undefined || this.#scope === undefined)
      throw new ArchiveError('The archive has no account: nothing was restored.')
    return await this.#finish(start, this.#scope)
  }

  get #name(): string | undefined {
    return this.#options.name
  }

  /** Locks the tallies of an existing account, so that others write nothing to it, and deletes its records. */
  async #begin({ account }: ArchiveStart): Promise<void> {
    const name = this.#name ?? account
    checkAccountName(name)
    const existing = await findAccount(this.#options.client, name)
    if (existing === undefined) {
      await this.#rejectRetired(name)
      return
    }
    if (!this.#options.replace) {
      throw new ArchiveError(
        `There is already an account named ${name}. To replace its records: --replace. To restore it under another name: --as NAME.`,
      )
    }
    this.#scope = existing
    this.#replaced = true
    await this.#run(statements.lockTallies(existing))
    const names = Object.keys(resources)
    const journal = [
      'tombstone',
      ...names.flatMap((resource) => [`${resource}_before`, `${resource}_key`, `${resource}_value`]),
    ]
    const { rows } = await this.#run<{ schema: number }>(statements.highestSchema(existing))
    this.#numbersFrom = rows[0]?.schema ?? 0
    for (const table of [...names, ...journal, 'value_index', 'idempotency', 'field']) {
      await this.#run(statements.deleteRows(existing, table))
    }
  }

  async #rejectRetired(name: string): Promise<void> {
    const { rows } = await this.#run(deletionStatement(name))
    if (rows.length === 0) return
    throw new ArchiveError(
      `An account named ${name} was deleted, and its name is never used again. Restore it under another name: --as NAME.`,
    )
  }

  async #checkColumns({ name, columns }: ArchiveTable, start: ArchiveStart | undefined): Promise<void> {
    const { rows } = await this.#options.client.query<{ name: string }>(columnsText, [name])
    const known = new Set(rows.map((row) => row.name))
    const unknown = columns.filter((column) => !known.has(column))
    if (unknown.length === 0) return
    throw new ArchiveError(
      `The archive has ${name}.${unknown.join(`, ${name}.`)}, which this database does not have. It was exported by Quartermaster ` +
        `${start?.version}: run \`quartermaster migrate\` of that version or a later one first.`,
    )
  }

  async #write(table: ArchiveTable | undefined, rows: readonly string[]): Promise<void> {
    if (table === undefined)
      throw new ArchiveError('The archive is damaged: it has rows before its first table.')
    const json = `[${rows.join(',')}]`
    if (table.name === 'account') {
      // The settings of an existing account stay as they are.
      if (!this.#replaced) this.#scope = await this.#createAccount(table, json)
      return
    }
    const scope = this.#scope
    if (scope === undefined)
      throw new ArchiveError('The archive is damaged: the account is not its first table.')
    if (table.name === 'tally') {
      this.#tallies = [...this.#tallies, ...rows]
      // They are held in memory until the end. An account has one for each resource.
      if (this.#tallies.length > Object.keys(resources).length)
        throw new ArchiveError('The archive is damaged: it has more tallies than there are resources.')
      return
    }
    if (table.name === 'api_key' && !this.#options.withKeys) return
    const isRecord = table.name in resources
    const { rowCount } = await this.#run(
      statements.insertRows(scope, table, json, { skipExisting: !isRecord, numbersFrom: this.#numbersFrom }),
    )
    this.#counts.set(table.name, (this.#counts.get(table.name) ?? 0) + (rowCount ?? 0))
  }

  async #createAccount(table: ArchiveTable, json: string): Promise<AccountScope> {
    const { rows } = await this.#run<AccountScope>(statements.insertAccount(table, json, this.#name))
    const [scope] = rows
    if (scope === undefined || rows.length > 1) throw new ArchiveError('The archive must have one account.')
    return scope
  }

  async #finish(start: ArchiveStart, scope: AccountScope): Promise<RestoredAccount> {
    const name = this.#name ?? start.account
    const countOf = (table: string) => this.#counts.get(table) ?? 0
    const tallies = `[${this.#tallies.join(',')}]`
    for (const resource of Object.keys(resources)) {
      const restored = { total: countOf(resource), tallies, numbersFrom: this.#numbersFrom }
      await this.#run(statements.setTally(scope, resource, restored))
    }
    await this.#restoreKeys(scope)
    const details = `${this.#replaced ? 'replaced by' : 'from'} the archive of ${start.account}, exported at ${start.exported_at}`
    await this.#run(
      auditStatement(scope, this.#options.actor, { action: 'account.restore', subject: name, details }),
    )
    const records = { product: countOf('product'), partner: countOf('partner'), company: countOf('company') }
    return {
      name,
      exportedAt: start.exported_at,
      replaced: this.#replaced,
      keys: countOf('api_key'),
      records,
    }
  }

  /** The table of keys is not archived: it follows from the records. */
  async #restoreKeys(scope: AccountScope): Promise<void> {
    await this.#run(statements.restartBuilds(scope))
    for (const { name } of Object.values(resources)) {
      const run = async (statement: Statement) => (await this.#run<DefinitionsRow>(statement)).rows
      const { resource } = await readDefinitions(run, scope, name)
      for (const field of keyFieldsOf(resource).filter(({ key }) => key.isReady)) {
        await this.#run(addAllKeys(scope, resource, field)).catch((error: unknown) => {
          const isTaken = error instanceof pg.DatabaseError && error.code === '23505'
          if (!isTaken) throw error
          throw new ArchiveError(
            `The archive is damaged: two ${resource.plural} have the same ${field.name}, which is unique.`,
            { cause: error },
          )
        })
      }
    }
  }

  async #run<Row extends pg.QueryResultRow>({ text, values }: Statement): Promise<pg.QueryResult<Row>> {
    return await this.#options.client.query<Row>(text, [...values])
  }
}
