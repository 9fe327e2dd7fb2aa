import type pg from 'pg'
import { type Actor, auditStatement } from '../accounts/audit.ts'
import { importAuthor } from '../catalog/authors.ts'
import { keyFieldsOf } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import { type IdColumns, type IdRange, type IdSource, idSourceOf, senderIds } from '../id-source.ts'
import { limits } from '../limits/limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import { hasImages, trimJournal } from '../writes/journal.ts'
import { requireRecords } from '../writes/records-quota.ts'
import { type LockedTally, lockTally } from '../writes/tick.ts'
import { type BatchParts, orderedParts } from './batch.ts'
import { batchWrites, type Run } from './batch-writes.ts'
import { copyIn } from './copy.ts'
import type { RowRejection } from './fold.ts'
import { idFaults, newIdFault, unknownForUpdate, type WriteMode } from './id-rules.ts'
import type { ImportAudit, Written } from './import-audit.ts'
import { KeyTable } from './key-table.ts'
import { type BatchOutcome, type ImportRow, type NetEffect, plainRows } from './net-effect.ts'
import { foldRows, type OrderedRows } from './ordered-rows.ts'
import type { Row as InputRow } from './row.ts'
import { highestId } from './row-cells.ts'
import { insertedLines, stagedRows } from './row-lines.ts'
import type { RowResource } from './row-resource.ts'
import * as statements from './statements.ts'

/** `author`: of what it writes; default: `import`. `actor`: who is recorded in the audit log if the batch decides who assigns ids. */
export interface SessionOptions {
  readonly mode: WriteMode
  readonly author?: string
  readonly actor?: Actor
  readonly audit?: ImportAudit
  /** Every transaction is rolled back, and nothing is deleted. */
  readonly dryRun?: boolean
  /** Of the resource, after a batch. Undefined: the operator may exceed the quota of an account. */
  readonly recordsMax?: number
}

interface Staging {
  readonly trackIds: boolean
  readonly stagesPerTransaction: boolean
}

/**
 * One import on a dedicated connection, with temporary tables. Each batch is one transaction, which locks the account's
 * tally of the resource. So no other writer can change what the batch has read before it commits.
 */
export class ImportSession {
  readonly #connection: Connection
  readonly #scope: AccountScope
  readonly #resource: RowResource
  readonly #trackIds: boolean
  /** Whether each transaction creates the staging table, because it may run on another connection than the previous one. */
  readonly #stagesPerTransaction: boolean
  readonly #options: SessionOptions
  readonly #author: string
  readonly #keys: KeyTable
  /** The tally before the first batch. */
  #before: (IdColumns & { readonly version: string }) | undefined

  private constructor(
    connection: Connection,
    scope: AccountScope,
    resource: RowResource,
    { trackIds, stagesPerTransaction }: Staging,
    options: SessionOptions,
  ) {
    this.#connection = connection
    this.#scope = scope
    this.#resource = resource
    this.#trackIds = trackIds
    this.#stagesPerTransaction = stagesPerTransaction
    this.#options = options
    this.#author = options.author ?? importAuthor
    this.#keys = new KeyTable(connection, this.#rows, scope, resource)
  }

  /** `trackIds` stores the ids of all rows, which `deleteMissing` needs. */
  static async open(
    connection: Connection,
    scope: AccountScope,
    resource: RowResource,
    { trackIds, ...options }: SessionOptions & { readonly trackIds: boolean },
  ): Promise<ImportSession> {
    const staging = { trackIds, stagesPerTransaction: false }
    const session = new ImportSession(connection, scope, resource, staging, options)
    for (const statement of statements.temporaryTables(resource)) await session.#run(statement)
    session.#before = await session.#currentTally()
    return session
  }

  /** On a connection of a pool, for one batch. It cannot delete records that are missing from a file. */
  static async onPooled(
    connection: Connection,
    scope: AccountScope,
    resource: RowResource,
    options: SessionOptions,
  ): Promise<ImportSession> {
    const stagesPerTransaction = connection.localSettings !== undefined
    const staging = { trackIds: false, stagesPerTransaction }
    const session = new ImportSession(connection, scope, resource, staging, options)
    const staged = resource.schema === undefined ? resource.name : `${resource.name} with own fields`
    if (!stagesPerTransaction && connection.stagedResource !== staged) {
      for (const statement of statements.temporaryTables(resource)) await session.#run(statement)
      connection.stagedResource = staged
    }
    return session
  }

  /** Writes rows and deletes records. If nothing changes, the version does not change either. */
  async write(parts: BatchParts): Promise<BatchOutcome> {
    const isDry = this.#options.dryRun === true
    const copyTracked = async () => {
      if (!this.#trackIds) return
      const ids = [...parts.rows, ...parts.ordered].map(({ cells }) => cells[0] ?? '')
      await copyIn(this.#connection, statements.copyIds, ids)
    }
    // Not in the transaction, which is rolled back.
    if (isDry) await copyTracked()
    return await this.#inTransaction(async () => {
      if (!isDry) await copyTracked()
      const tally = await this.#lockTally()
      const current = await this.#keys.currentResource(tally)
      const batch = this.#takesOrder(current) ? orderedParts(parts) : parts
      const forbidden = this.#forbidden(batch, tally)
      const isAllowed = ({ cells }: InputRow) => !forbidden.has(cells[0] ?? '')
      const rows = batch.rows.filter(isAllowed)
      const existing = await this.#existingIds(rows, Number(tally.last_id))
      const plain = plainRows(rows, existing, (row) => this.#faultOfNew(row, tally))
      const folded = await foldRows(this.#orderedRows(current, tally), batch.ordered.filter(isAllowed))
      const deletes = batch.deletes.filter(isAllowed).map(({ cells }) => cells[0] ?? '')
      const written = await this.#writeAll({ plain, folded, deletes }, current, tally)
      const outcome = { ...written, rejected: [...plain.rejected, ...folded.rejected], forbidden }
      if (outcome.becameExternal) await this.#auditExternal()
      await this.#audit(outcome)
      return outcome
    })
  }

  async #writeAll(
    { plain, folded, deletes }: NetEffect,
    current: Resource,
    tally: LockedTally,
  ): Promise<Omit<BatchOutcome, 'rejected' | 'forbidden'>> {
    const { counts } = folded
    // Before the insert: a record may be deleted and created again.
    const deleted = await this.#delete([...deletes, ...folded.deletes], tally)
    const total = Number(tally.total) - deleted + plain.added.length + folded.inserts.length
    if (total > Number(tally.total)) requireRecords(this.#resource, total, this.#options.recordsMax)
    const inserted = await this.#insert([...plain.added, ...folded.inserts], tally)
    const updated = await this.#update([...plain.changed, ...folded.updates], tally)
    await this.#keys.change(current, folded.keys)
    const becameExternal = this.#becomesExternal(tally, plain.added.length + counts.inserted)
    const records = inserted + updated + deleted
    if (records + counts.inserted > 0)
      await this.#tick(tally, {
        records,
        added: inserted - deleted,
        lastId: Math.max(highestId(plain.added), folded.highestInserted),
        ownLastId: this.#resource.rowKey === undefined ? 0 : folded.highestInserted,
        withoutImages: !hasImages(updated) || !hasImages(deleted),
        becameExternal,
      })
    return {
      inserted: plain.added.length + counts.inserted,
      updated: updated - folded.updates.length + counts.updated,
      deleted: deleted - folded.deletes.length + counts.deleted,
      becameExternal,
    }
  }

  #orderedRows(current: Resource, tally: LockedTally): OrderedRows {
    return {
      run: this.#runOne,
      transaction: this.#rows,
      scope: this.#scope,
      resource: this.#resource,
      current,
      rowKey: this.#keys.rowKeyIn(current),
      mode: this.#options.mode,
      tally,
      faultOfNew: (row) => this.#faultOfNew(row, tally),
    }
  }

  /** Whether what a row does may depend on the rows before it, even if these name other records. */
  #takesOrder(current: Resource): boolean {
    const { mode } = this.#options
    return mode === 'insert' || this.#resource.rowKey !== undefined || keyFieldsOf(current).length > 0
  }

  #forbidden({ rows, deletes, ordered }: BatchParts, tally: LockedTally): ReadonlyMap<string, string> {
    if (this.#resource.rowKey !== undefined) return new Map()
    const ids = [...rows, ...ordered, ...deletes].map(({ cells }) => cells[0] ?? '')
    return idFaults(this.#options.mode, this.#resource, tally, ids)
  }

  /** Who assigned ids before the first batch. */
  get idSourceBefore(): IdSource {
    return this.#before === undefined ? 'unassigned' : idSourceOf(this.#before)
  }

  /**
   * Deletes records that no batch contained, except those that others have written since the import began and those whose ids this
   * service assigned. `check` can throw before the first deletion: it gets their number, and that of all records that the import replaces.
   */
  async deleteMissing(
    onBatch: (deleted: number) => void,
    check: (missing: number, records: number) => void = () => {},
  ): Promise<void> {
    await this.#run(statements.analyzeIds)
    const before = this.#before?.version ?? '0'
    const ids = await this.#replacedIds()
    const found = await this.#writes.findMissing(this.#runOne, this.#scope, this.#resource, { before, ids })
    const counted = await this.#run<{ records: number }>(
      statements.countRecords(this.#scope, this.#resource, ids),
    )
    check(found, counted.rows[0]?.records ?? 0)
    if (this.#options.dryRun === true) return onBatch(found)
    // A batch may delete nothing, if others have changed or deleted its records. The next one may still delete some.
    for (let from = 1; from <= found; from += limits.importBatchRows) {
      const to = from + limits.importBatchRows - 1
      onBatch(await this.#deleteBatch(before, from, to))
    }
  }

  async #deleteBatch(versionBefore: string, from: number, to: number): Promise<number> {
    return await this.#inTransaction(async () => {
      const tally = await this.#lockTally()
      const { version } = tally
      const batch = { version, author: this.#author, versionBefore, from, to }
      const current = await this.#keys.currentResource(tally)
      const keys = await this.#keys.ofMissing(current, batch)
      const deleted = await this.#writes.deleteMissing(this.#runOne, this.#scope, this.#resource, batch)
      await this.#keys.change(current, { removed: keys, added: [] })
      if (deleted > 0)
        await this.#tick(tally, {
          records: deleted,
          added: -deleted,
          lastId: 0,
          ownLastId: 0,
          withoutImages: !hasImages(deleted),
          becameExternal: false,
        })
      await this.#audit({ inserted: 0, updated: 0, deleted })
      return deleted
    })
  }

  /** The ids of the records that the import replaces. */
  async #replacedIds(): Promise<IdRange> {
    if (this.#options.mode === 'load') return { from: 1, to: Number.MAX_SAFE_INTEGER }
    const tally = await this.#currentTally()
    return tally === undefined ? { from: 1, to: 0 } : senderIds(tally)
  }

  async #currentTally(): Promise<(IdColumns & { readonly version: string }) | undefined> {
    const statement = statements.currentTally(this.#scope, this.#resource)
    return (await this.#run<IdColumns & { readonly version: string }>(statement)).rows[0]
  }

  #becomesExternal(tally: LockedTally, inserted: number): boolean {
    const isOfSender = this.#resource.rowKey === undefined && this.#options.mode !== 'load'
    return inserted > 0 && isOfSender && idSourceOf(tally) === 'unassigned'
  }

  async #auditExternal(): Promise<void> {
    const { actor } = this.#options
    if (actor === undefined) return
    const change = { subject: this.#resource.name, details: 'external, by the first rows with ids' }
    await this.#run(auditStatement(this.#scope, actor, { action: 'account.ids', ...change }))
  }

  async #audit(written: Written): Promise<void> {
    const statement = this.#options.audit?.written(written)
    if (statement !== undefined) await this.#run(statement)
  }

  /** After the last batch. */
  async complete(rejected: number): Promise<void> {
    const statement = this.#options.audit?.completed(rejected)
    if (statement !== undefined) await this.#inTransaction(() => this.#run(statement))
  }

  async #inTransaction<T>(work: () => Promise<T>): Promise<T> {
    const run = async () => {
      if (!this.#stagesPerTransaction) await this.#run(statements.defaultCommit)
      return await work()
    }
    return await inTransaction(this.#connection, run, { isDryRun: this.#options.dryRun === true })
  }

  /** Updates the planner's statistics now instead of at the next autovacuum. */
  async analyze(): Promise<void> {
    await this.#run(statements.analyze(this.#resource))
  }

  /** Why no record can be created from the row. */
  #faultOfNew(row: ImportRow, tally: LockedTally): RowRejection | undefined {
    const { fields, rowKey } = this.#resource
    const { mode } = this.#options
    const { name: noun } = this.#resource
    const address = rowKey?.name ?? 'id'
    const reason =
      rowKey === undefined
        ? newIdFault(mode, this.#resource, tally, row[0] ?? '')
        : mode === 'update'
          ? unknownForUpdate(noun)
          : undefined
    if (reason !== undefined) return { field: address, reason }
    const missing = fields.find(
      ({ name, absent }, i) => absent === 'required' && name !== 'id' && row[i] === undefined,
    )
    return (
      missing && {
        field: missing.name,
        reason: `is required for a new ${noun} (no ${noun} has this ${address})`,
      }
    )
  }

  async #lockTally(): Promise<LockedTally> {
    const tally = await this.#connection.layout.form(lockTally)(this.#rows, this.#scope, this.#resource)
    if (tally === undefined) throw new Error(`The account has no tally of ${this.#resource.plural}.`)
    return tally
  }

  async #tick(tally: LockedTally, batch: statements.TickOfBatch): Promise<void> {
    await this.#run(statements.updateTally(this.#scope, this.#resource, batch, tally))
    for (const statement of trimJournal(this.#scope, this.#resource, tally.version, batch.records))
      await this.#run(statement)
  }

  async #existingIds(rows: readonly InputRow[], lastId: number): Promise<ReadonlySet<string>> {
    // No record has an id above last_id, so the first import of a resource needs no query.
    const candidates = rows.map(({ cells }) => cells[0] ?? '').filter((id) => Number(id) <= lastId)
    if (candidates.length === 0) return new Set()
    const found = await this.#rows.run<{ id: string }>(
      statements.existing(this.#scope, this.#resource, candidates),
    )
    return new Set(found.map(({ id }) => id))
  }

  /** Copies new records straight into the table. */
  async #insert(
    rows: readonly ImportRow[],
    { version, written_at: writtenAt }: LockedTally,
  ): Promise<number> {
    if (rows.length === 0) return 0
    const prefix = [this.#scope.accountId, version, version, this.#author, this.#author, ''].join('\t')
    const lines = insertedLines(this.#resource, rows, writtenAt)
    await copyIn(
      this.#connection,
      statements.copyRecords(this.#resource),
      lines.map((line) => prefix + line),
    )
    return rows.length
  }

  async #delete(ids: readonly string[], { version }: LockedTally): Promise<number> {
    if (ids.length === 0) return 0
    const batch = { version, author: this.#author, ids }
    return await this.#writes.delete(this.#runOne, this.#scope, this.#resource, batch)
  }

  /** Copies rows of existing records into a temporary table, then updates the records that differ. */
  async #update(
    rows: readonly ImportRow[],
    { version, written_at: writtenAt }: LockedTally,
  ): Promise<number> {
    if (rows.length === 0) return 0
    const { columns, hasOwn, lines } = stagedRows(this.#resource, rows)
    if (this.#stagesPerTransaction) await this.#run(statements.staging(this.#resource, 'drop'))
    await copyIn(this.#connection, statements.copyStaging(columns, hasOwn), lines)
    const ids = rows.map((row) => row[0] ?? '')
    const batch = { ids, columns, hasOwn, version, author: this.#author, writtenAt }
    return await this.#writes.update(this.#runOne, this.#scope, this.#resource, batch)
  }

  get #writes() {
    return this.#connection.layout.form(batchWrites)
  }

  readonly #runOne: Run = (statement) => this.#run(statement)

  readonly #rows: Pick<Transaction, 'run' | 'form'> = {
    form: (plain) => this.#connection.layout.form(plain),
    run: async <Row extends pg.QueryResultRow>(statement: Statement): Promise<Row[]> =>
      (await this.#run<Row>(statement)).rows,
  }

  /** Prepared if it recurs: planning takes a third of the time of a write of one record. */
  #run<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>> {
    return this.#connection.run<Row>(statement, true)
  }
}
