import { Failure } from '../errors.ts'
import type { Database } from '../postgres/database.ts'
import type { Statement } from '../sql.ts'

/** Collects rows until they are written. */
export interface Collector<Row> {
  readonly isEmpty: boolean
  /** Some rows that have waited since before then, by `performance.now()`: few enough to build a statement of quickly. */
  take(before: number): readonly Row[]
}

interface Batch<Row> {
  readonly rows: readonly Row[]
  readonly statement: Statement
}

/**
 * Writes rows in batches, one statement each, exactly once. When a connection breaks, the database may have committed the
 * batch or not. So the very same statement is sent again, before any newer batch, until the database answers it; the
 * statement has no effect on rows that have the batch already.
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
    then: {
      readonly onWritten?: (rows: readonly Row[]) => void
      /** These rows will not be written: the database refuses them, or the process ends. */
      readonly onDropped: (rows: readonly Row[]) => void
    },
  ) {
    this.#from = from
    this.#statementOf = statementOf
    this.#onWritten = then.onWritten ?? (() => {})
    this.#onDropped = then.onDropped
  }

  get isEmpty(): boolean {
    return this.#batch === undefined && this.#from.isEmpty
  }

  /** Writes one batch: the one whose outcome is not known yet, or else the next. */
  async write(database: Database, before: number): Promise<void> {
    const batch = this.#batch ?? this.#next(before)
    if (batch === undefined) return
    this.#batch = batch
    try {
      await database.writeOne(batch.statement)
    } catch (error) {
      if (isRefused(error)) this.#drop(batch.rows)
      throw error
    }
    this.#batch = undefined
    this.#onWritten(batch.rows)
  }

  /** Drops all that waits. */
  giveUp(): void {
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

/** What the database refuses as such, or a defect of ours: to try it again would end the same way. */
export function isRefused(error: unknown): boolean {
  return !(error instanceof Failure) || error.code === 'internal'
}
