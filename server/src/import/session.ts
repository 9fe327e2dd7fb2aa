import type pg from 'pg'
import { type Actor, auditStatement } from '../accounts/audit.ts'
import type { Resource } from '../catalog/resources.ts'
import { type IdColumns, type IdRange, type IdSource, idSourceOf, senderIds } from '../id-source.ts'
import { limits } from '../limits/limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import { hasImages, trimJournal } from '../writes/journal.ts'
import { requireRecords } from '../writes/records-quota.ts'
import { type LockedTally, lockTally } from '../writes/tick.ts'
import { batchWrites, type Run } from './batch-writes.ts'
import { copyText } from './cell.ts'
import { copyIn } from './copy.ts'
import { idFaults, newIdFault, type WriteMode } from './id-rules.ts'
import type { ImportAudit, Written } from './import-audit.ts'
import { type FoldedLines, foldAll, type RepeatedId, type RowRejection } from './repeated-ids.ts'
import { defaultCells, highestId } from './row-cells.ts'
import { insertedLines, stagedRows } from './row-lines.ts'
import * as statements from './statements.ts'
import { storedEtags } from './stored-etags.ts'

/** The cells of a record in the order of the catalog's fields, in COPY's text format; undefined if the row does not contain the field. */
export type ImportRow = readonly (string | undefined)[]

export interface BatchOutcome {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  /** Rows that were not written, because no record has their id and none can be created from them. */
  readonly rejected: readonly RejectedRow[]
  /** The same of ids that occur several times. */
  readonly rejectedLines: FoldedLines['rejected']
  /** Ids that the batch must not use, and why: none of their lines was written. */
  readonly forbidden: ReadonlyMap<string, string>
  /** With this batch the first ids of another system came. */
  readonly becameExternal: boolean
}

/** `actor`: who is recorded in the audit log if the batch decides who assigns ids. */
export interface SessionOptions {
  readonly mode: WriteMode
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

export interface RejectedRow extends RowRejection {
  readonly rowIndex: number
}

/**
 * One import on a dedicated connection, with temporary tables. Each batch is one transaction, which locks the account's
 * tally of the resource. So no other writer can change what the batch has read before it commits.
 */
export class ImportSession {
  readonly #connection: Connection
  readonly #scope: AccountScope
  readonly #resource: Resource
  readonly #trackIds: boolean
  /** Whether each transaction creates the staging table, because it may run on another connection than the previous one. */
  readonly #stagesPerTransaction: boolean
  readonly #options: SessionOptions
  /** The tally before the first batch. */
  #before: (IdColumns & { readonly version: string }) | undefined

  private constructor(
    connection: Connection,
    scope: AccountScope,
    resource: Resource,
    { trackIds, stagesPerTransaction }: Staging,
    options: SessionOptions,
  ) {
    this.#connection = connection
    this.#scope = scope
    this.#resource = resource
    this.#trackIds = trackIds
    this.#stagesPerTransaction = stagesPerTransaction
    this.#options = options
  }

  /** `trackIds` stores the ids of all rows, which `deleteMissing` needs. */
  static async open(
    connection: Connection,
    scope: AccountScope,
    resource: Resource,
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
    resource: Resource,
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

  /**
   * Writes rows with distinct ids, deletes records with other ids, and applies the lines of ids that occur several times. If nothing
   * changes, the version does not change either.
   */
  async write(
    rows: readonly ImportRow[],
    deletes: readonly string[] = [],
    repeated: readonly RepeatedId[] = [],
  ): Promise<BatchOutcome> {
    const ids = rows.map((row) => row[0] ?? '')
    const allIds = [...ids, ...repeated.map(({ id }) => id)]
    const isDry = this.#options.dryRun === true
    // Not in the transaction, which is rolled back.
    if (this.#trackIds && isDry) await copyIn(this.#connection, statements.copyIds, allIds)
    return await this.#inTransaction(async () => {
      if (this.#trackIds && !isDry) await copyIn(this.#connection, statements.copyIds, allIds)
      const tally = await this.#lockTally()
      const existing = await this.#existingIds(allIds, Number(tally.last_id))
      const forbidden = idFaults(this.#options.mode, this.#resource, tally, [...allIds, ...deletes])
      const isAllowed = (id: string) => !forbidden.has(id)
      const rejected = rows.flatMap((row, rowIndex) => {
        const id = ids[rowIndex] ?? ''
        const fault = existing.has(id) || !isAllowed(id) ? undefined : this.#faultOfNew(row, tally)
        return fault === undefined ? [] : [{ rowIndex, ...fault }]
      })
      const skipped = new Set(rejected.map(({ rowIndex }) => rowIndex))
      const allowed = rows.filter((_, i) => isAllowed(ids[i] ?? '') && !skipped.has(i))
      const added = allowed.filter(([id]) => !existing.has(id ?? ''))
      const changed = allowed.filter(([id]) => existing.has(id ?? ''))
      const folded = await this.#fold(
        repeated.filter(({ id }) => isAllowed(id)),
        existing,
        tally,
      )
      // Before the insert: a record may be deleted and created again.
      const deleted = await this.#delete([...deletes.filter(isAllowed), ...folded.deletes], tally)
      const total = Number(tally.total) - deleted + added.length + folded.inserts.length
      if (total > Number(tally.total)) requireRecords(this.#resource, total, this.#options.recordsMax)
      const inserted = await this.#insert([...added, ...folded.inserts], tally)
      const updated = await this.#update([...changed, ...folded.updates], tally)
      const records = inserted + updated + deleted
      const becameExternal = this.#becomesExternal(tally, added.length + folded.counts.inserted)
      if (records + folded.counts.inserted > 0) {
        const withoutImages = !hasImages(updated) || !hasImages(deleted)
        const lastId = Math.max(highestId(added), folded.highestInserted)
        await this.#tick(tally, { records, added: inserted - deleted, lastId, withoutImages, becameExternal })
      }
      if (becameExternal) await this.#auditExternal()
      const outcome = {
        inserted: added.length + folded.counts.inserted,
        updated: updated - folded.updates.length + folded.counts.updated,
        deleted: deleted - folded.deletes.length + folded.counts.deleted,
        rejected,
        rejectedLines: folded.rejected,
        forbidden,
        becameExternal,
      }
      await this.#audit(outcome)
      return outcome
    })
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
      const batch = { version, versionBefore, from, to }
      const deleted = await this.#writes.deleteMissing(this.#runOne, this.#scope, this.#resource, batch)
      if (deleted > 0)
        await this.#tick(tally, {
          records: deleted,
          added: -deleted,
          lastId: 0,
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
    return inserted > 0 && this.#options.mode === 'upsert' && idSourceOf(tally) === 'unassigned'
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
    const { name, fields } = this.#resource
    const reason = newIdFault(this.#options.mode, this.#resource, tally, row[0] ?? '')
    if (reason !== undefined) return { field: 'id', reason }
    const missing = fields.find(({ absent }, i) => absent === 'required' && row[i] === undefined)
    return (
      missing && { field: missing.name, reason: `is required for a new ${name} (no ${name} has this id)` }
    )
  }

  async #lockTally(): Promise<LockedTally> {
    const run = async <Row extends pg.QueryResultRow>(statement: Statement) =>
      (await this.#run<Row>(statement)).rows
    const tally = await this.#connection.layout.form(lockTally)({ run }, this.#scope, this.#resource)
    if (tally === undefined) throw new Error(`The account has no tally of ${this.#resource.plural}.`)
    return tally
  }

  async #tick(tally: LockedTally, batch: statements.TickOfBatch): Promise<void> {
    await this.#run(statements.updateTally(this.#scope, this.#resource, batch, tally))
    for (const statement of trimJournal(this.#scope, this.#resource, tally.version, batch.records))
      await this.#run(statement)
  }

  async #existingIds(ids: readonly string[], lastId: number): Promise<ReadonlySet<string>> {
    // No record has an id above last_id, so the first import of a resource needs no query.
    const candidates = ids.filter((id) => Number(id) <= lastId)
    if (candidates.length === 0) return new Set()
    const { rows } = await this.#run<{ id: string }>(
      statements.existing(this.#scope, this.#resource, candidates),
    )
    return new Set(rows.map(({ id }) => id))
  }

  /** The net effect of the lines of each id, which it finds by reading the records that exist. */
  async #fold(repeated: readonly RepeatedId[], existing: ReadonlySet<string>, tally: LockedTally) {
    const ids = repeated.flatMap(({ id }) => (existing.has(id) ? [id] : []))
    const stored = new Map<string, ImportRow>()
    if (ids.length > 0) {
      const { rows } = await this.#run<{ cells: (string | null)[] }>(
        statements.storedCells(this.#scope, this.#resource, ids),
      )
      for (const { cells } of rows) stored.set(cells[0] ?? '', cells.map(copyText))
    }
    const batch = { scope: this.#scope, resource: this.#resource, repeated, existing }
    return foldAll(repeated, stored, {
      defaults: defaultCells(this.#resource, tally.written_at),
      writeDateIndex: this.#resource.fields.findIndex(({ name }) => name === 'write_date'),
      writtenAt: tally.written_at,
      faultOfNew: (row) => this.#faultOfNew(row, tally),
      isStored: await storedEtags(this.#runOne, batch, tally),
    })
  }

  /** Copies new records straight into the table. */
  async #insert(
    rows: readonly ImportRow[],
    { version, written_at: writtenAt }: LockedTally,
  ): Promise<number> {
    if (rows.length === 0) return 0
    const prefix = `${this.#scope.accountId}\t${version}\t${version}\t`
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
    return await this.#writes.delete(this.#runOne, this.#scope, this.#resource, { version, ids })
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
    const batch = { ids, columns, hasOwn, version, writtenAt }
    return await this.#writes.update(this.#runOne, this.#scope, this.#resource, batch)
  }

  get #writes() {
    return this.#connection.layout.form(batchWrites)
  }

  readonly #runOne: Run = (statement) => this.#run(statement)

  /** Prepared if it recurs: planning takes a third of the time of a write of one record. */
  #run<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>> {
    return this.#connection.run<Row>(statement, true)
  }
}
