import { Failure } from '../errors/errors.ts'
import type { Database } from '../postgres/database.ts'
import type { Layout } from '../postgres/layout.ts'
import type { Statement } from '../sql.ts'

/** A queue of rows. */
export interface Collector<Row> {
  readonly isEmpty: boolean
  /** Removes and returns rows for one statement, of those queued before this time (`performance.now()`). */
  take(before: number): readonly Row[]
}

interface Batch<Row> {
  readonly rows: readonly Row[]
  readonly statement: Statement
  /** Undefined if the rows are of several accounts. */
  readonly accountId: string | undefined
}

export interface BatchWriterOptions<Row> {
  readonly statementOf: (rows: readonly Row[]) => Statement
  readonly accountOf: (row: Row) => string
  readonly onWritten?: (rows: readonly Row[]) => void
  /** The rows will not be written: the database rejected them, or the process exits. */
  readonly onDropped: (rows: readonly Row[]) => void
}

/**
 * Writes rows in batches, one statement each, exactly once. If the connection breaks, the batch may or may not have been
 * committed. The same statement is then sent again, before any newer batch, until its outcome is known. The statements
 * are idempotent.
 */
export class BatchWriter<Row> {
  readonly #from: Collector<Row>
  readonly #options: BatchWriterOptions<Row>
  #batches: readonly Batch<Row>[] = []

  constructor(from: Collector<Row>, options: BatchWriterOptions<Row>) {
    this.#from = from
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0 && this.#from.isEmpty
  }

  /** Writes the batches whose outcome is unknown, if there are any, and those that may be written beside them. */
  async write(database: Database, before: number): Promise<void> {
    if (this.isEmpty) return
    const { form } = await database.connect()
    this.#batches = [...this.#batches, ...this.#next(before, form)]
    const unknown: Batch<Row>[] = []
    let failure: { readonly error: unknown } | undefined
    for (const batch of this.#batches) {
      try {
        await nodeOf(database, batch).writeOne(batch.statement)
        this.#options.onWritten?.(batch.rows)
      } catch (error) {
        failure ??= { error }
        if (isPermanent(error)) this.#options.onDropped(batch.rows)
        else unknown.push(batch)
      }
    }
    this.#batches = unknown
    if (failure !== undefined) throw failure.error
  }

  /** Drops all queued rows. */
  dropAll(): void {
    for (const { rows } of this.#batches) this.#options.onDropped(rows)
    this.#batches = []
    while (!this.#from.isEmpty) this.#options.onDropped(this.#from.take(Number.POSITIVE_INFINITY))
  }

  /**
   * An account gets no newer batch while the outcome of an older one is unknown. If that is a batch of all accounts, rows wait;
   * otherwise those of the account are dropped.
   */
  #next(before: number, form: Layout['form']): readonly Batch<Row>[] {
    const { accountOf, onDropped } = this.#options
    const statementOf = form(this.#options.statementOf)
    const unknown = new Set(this.#batches.map(({ accountId }) => accountId))
    if (unknown.has(undefined)) return []
    const rows = this.#from.take(before)
    if (rows.length === 0) return []
    const batches: Batch<Row>[] = []
    for (const [accountId, group] of form(groupsOf)(rows, accountOf)) {
      if (unknown.has(accountId)) {
        onDropped(group)
        continue
      }
      try {
        batches.push({ rows: group, statement: statementOf(group), accountId })
      } catch (error) {
        onDropped(group)
        throw error
      }
    }
    return batches
  }
}

/** The rows of each batch, and their account if they have the same one. */
export const groupsOf: GroupsOf = (rows) => [[undefined, rows]]

export type GroupsOf = <Row>(
  rows: readonly Row[],
  accountOf: (row: Row) => string,
) => (readonly [string | undefined, readonly Row[]])[]

function nodeOf(database: Database, { accountId }: Batch<unknown>): Database {
  return accountId === undefined ? database : database.nodeOf({ accountId })
}

/** The database rejected the statement, or the code has a defect: a retry would fail again. */
export function isPermanent(error: unknown): boolean {
  return !(error instanceof Failure) || error.code === 'internal'
}
