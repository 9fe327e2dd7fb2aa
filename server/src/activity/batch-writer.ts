import { Failure } from '../errors.ts'
import type { Database } from '../postgres/database.ts'
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
}

/**
 * Writes rows in batches, one statement each, exactly once. If the connection breaks, the batch may or may not have been
 * committed. The same statement is then sent again, before any newer batch, until its outcome is known. The statements
 * are idempotent.
 */
export class BatchWriter<Row> {
  readonly #from: Collector<Row>
  readonly #statementOf: (rows: readonly Row[]) => Statement
  readonly #onWritten: (rows: readonly Row[]) => void
  readonly #onDropped: (rows: readonly Row[]) => void
  #batch: Batch<Row> | undefined

  constructor(
    from: Collector<Row>,
    statementOf: (rows: readonly Row[]) => Statement,
    callbacks: {
      readonly onWritten?: (rows: readonly Row[]) => void
      /** The rows will not be written: the database rejected them, or the process exits. */
      readonly onDropped: (rows: readonly Row[]) => void
    },
  ) {
    this.#from = from
    this.#statementOf = statementOf
    this.#onWritten = callbacks.onWritten ?? (() => {})
    this.#onDropped = callbacks.onDropped
  }

  get isEmpty(): boolean {
    return this.#batch === undefined && this.#from.isEmpty
  }

  /** Writes the batch whose outcome is unknown, if there is one, otherwise the next. */
  async write(database: Database, before: number): Promise<void> {
    const batch = this.#batch ?? this.#next(before)
    if (batch === undefined) return
    this.#batch = batch
    try {
      await database.writeOne(batch.statement)
    } catch (error) {
      if (isPermanent(error)) this.#drop(batch.rows)
      throw error
    }
    this.#batch = undefined
    this.#onWritten(batch.rows)
  }

  /** Drops all queued rows. */
  dropAll(): void {
    if (this.#batch !== undefined) this.#drop(this.#batch.rows)
    while (!this.#from.isEmpty) this.#drop(this.#from.take(Number.POSITIVE_INFINITY))
  }

  #next(before: number): Batch<Row> | undefined {
    const rows = this.#from.take(before)
    if (rows.length === 0) return undefined
    try {
      return { rows, statement: this.#statementOf(rows) }
    } catch (error) {
      this.#drop(rows)
      throw error
    }
  }

  #drop(rows: readonly Row[]): void {
    this.#batch = undefined
    this.#onDropped(rows)
  }
}

/** The database rejected the statement, or the code has a defect: a retry would fail again. */
export function isPermanent(error: unknown): boolean {
  return !(error instanceof Failure) || error.code === 'internal'
}
