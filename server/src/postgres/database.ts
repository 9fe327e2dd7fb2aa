import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { AccountScope } from '../scope.ts'
import type { Operation, Statement, StateStatement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import type { Connection } from './connection.ts'
import { ConnectionPool, type PoolState, sumOfPools } from './connection-pool.ts'
import { AccountMoved, type Layout, type Node, type Nodes, singleServer } from './layout.ts'
import { PipelinedConnections } from './pipelined-connections.ts'
import { PooledReads, type ReadOptions, runRead, timed } from './pooled-reads.ts'
import { Primary } from './primary/primary.ts'
import { abandonedTransactions, longReads, type ServingDatabase, servingConnection } from './settings.ts'
import {
  failingOver,
  failureOf,
  isConnectionError,
  mayHaveCommitted,
  notCommitted,
  outcomeUnknown,
  WriteTimedOut,
} from './sqlstate.ts'
import type { PlainRow, StateRow, TextRow } from './text-rows.ts'
import { failOnWarning, inTransaction, type Transaction } from './transaction.ts'

export interface DatabaseOptions extends ServingDatabase {
  /** The role of connections for writes. Default: that of all serving connections. */
  readonly writeRole?: string
  readonly connectionsMax: number
  readonly readMsMax: number
  readonly limits: Limits
  /** Whether it is one of the nodes of another `Database`. */
  readonly isNode?: boolean
}

/** Runs the statements of requests: reads with a deadline, and writes, which are never cancelled. */
export class Database implements Node<Database> {
  readonly primary: Primary
  readonly #reads: PooledReads
  readonly #pipelined: PipelinedConnections
  readonly #writes: ConnectionPool
  readonly #writeMsMax: number
  readonly #emit: EmitEvent
  readonly #options: DatabaseOptions
  #nodes: Nodes<Database> | undefined

  constructor(options: DatabaseOptions) {
    const { connectionsMax: max, readMsMax, limits, emit } = options
    this.#emit = emit
    this.#options = options
    this.#writeMsMax = limits.writeMsMax
    this.primary = new Primary(options)
    const reads = new ConnectionPool(this.primary, {
      name: 'reads',
      max,
      waitMsMax: limits.readWaitMsMax,
      config: {
        ...servingConnection(options, { statement_timeout: readMsMax, settings: longReads }),
        keepsLongRows: true,
      },
      emit,
    })
    const terminate = (connection: Connection) => this.primary.terminate(connection)
    this.#reads = new PooledReads(reads, { readMsMax, limits, terminate })
    this.primary.onSilent(() => this.#reads.closeInUse())
    // Separate from the pool of reads, so that slow reads do not delay the key verification of every request. The best
    // plan of these statements does not depend on their values. PostgreSQL estimates that it does if a value is an
    // offset, and would plan every execution.
    const settings = { plan_cache_mode: 'force_generic_plan' }
    const pipelined = { statement_timeout: Math.min(limits.pipelinedMsMax, readMsMax), settings }
    this.#pipelined = new PipelinedConnections(this.primary, {
      config: servingConnection(options, pipelined),
      emit,
      limits,
    })
    // No statement_timeout: if it ended a commit's wait for a synchronous standby, PostgreSQL would report success.
    // Only the wait for locks is limited, and that ends before anything is written.
    this.#writes = new ConnectionPool(this.primary, {
      name: 'writes',
      max,
      waitMsMax: limits.writeWaitMsMax,
      config: servingConnection(
        { ...options, role: options.writeRole ?? options.role },
        { lock_timeout: limits.writeLockMsMax, settings: abandonedTransactions },
      ),
      emit,
    })
  }

  /** The layout of the current primary's database. Opens a connection only if there has been none yet. */
  async connect(): Promise<Layout> {
    if (this.primary.layout === undefined) await this.#pipelined.connect()
    return this.primary.layout ?? singleServer
  }

  /** The form of an operation in that layout. A promise only until the first connection is open. */
  form<Plain extends object>(plain: Plain): Plain | Promise<Plain> {
    return this.primary.layout?.form(plain) ?? this.connect().then(({ form }) => form(plain))
  }

  /** The connections to the server with an account, if they are others and it can be reached; otherwise these. */
  nodeOf({ accountId }: AccountScope): Database {
    return this.#otherNodes()?.of(accountId) ?? this
  }

  get url(): string {
    return this.#options.url
  }

  nodeAt(url: string): Database {
    return new Database({ ...this.#options, url, isNode: true })
  }

  #otherNodes(): Nodes<Database> | undefined {
    if (this.#options.isNode === true) return undefined
    this.#nodes ??= this.primary.layout?.nodes<Database>(this)
    return this.#nodes
  }

  /** The servers to which reads are sent. */
  get servers(): number {
    return 1 + (this.#nodes?.all.length ?? 0)
  }

  /** Those to all nodes together. */
  get pools(): readonly PoolState[] {
    const own = [
      this.#reads.pool.state,
      { pool: 'pipelined', ...this.#pipelined.state } as const,
      this.#writes.state,
    ]
    return sumOfPools([...own, ...(this.#nodes?.all ?? []).flatMap(({ pools }) => pools)])
  }

  /** A pipelined statement is not cancelled: it takes milliseconds. */
  read<Row extends StateRow<Row>>(statement: StateStatement, options?: ReadOptions): Promise<Row[]>
  read<Row extends PlainRow<Row>>(statement: Statement, options?: ReadOptions): Promise<Row[]>
  read<Row extends TextRow<Row>>(statement: Statement, options: ReadOptions = {}): Promise<Row[]> {
    if (statement.execution === 'pipelined') return this.#pipelined.read<Row>(statement)
    return this.#readOnPool<Row>(statement, options)
  }

  async #readOnPool<Row extends TextRow<Row>>(statement: Statement, options: ReadOptions): Promise<Row[]> {
    const isCurrent = (rows: Row[]) => this.primary.isSourceOf(statement, rows)
    const read = () =>
      this.#reads.read(
        (connection) => runRead<Row>(connection, statement, this.#emit, options.msMax),
        options,
        isCurrent,
      )
    const rows = await read()
    this.primary.responded()
    if (isCurrent(rows)) return rows
    await this.primary.check()
    const again = await read()
    if (!isCurrent(again)) throw failingOver()
    return again
  }

  /** Pipelined statements in flight. */
  get waiting(): number {
    let sum = this.#pipelined.inFlight
    for (const node of this.#nodes?.all ?? []) sum += node.waiting
    return sum
  }

  /** When the oldest pipelined statement in flight was sent, by `performance.now()`. Infinity if there is none. */
  get waitingSince(): number {
    let oldest = this.#pipelined.inFlightSince
    for (const node of this.#nodes?.all ?? []) oldest = Math.min(oldest, node.waitingSince)
    return oldest
  }

  /** Runs one statement as its own transaction. */
  writeOne<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    return this.#writeWithin({ isCommitting: true, isAbandoned: false }, (connection) =>
      failOnWarning(connection, () =>
        timed(this.#emit, statement.operation, () => connection.read<Row>(statement)),
      ),
    )
  }

  /** Runs `work`, which writes to one account, in a transaction on the server with the account, unless it is being moved. */
  async writeTo<T>({ accountId }: AccountScope, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const node = this.#otherNodes()?.forWrites(accountId)
    if (node === undefined) return await this.write(work)
    try {
      return await node.database.write(async (transaction) => {
        const result = await work(transaction)
        if ((await transaction.run(node.confirm)).length === 0) throw new AccountMoved()
        return result
      })
    } catch (error) {
      if (!(error instanceof AccountMoved)) throw error
      return await this.write(work)
    }
  }

  /** Runs `work` in a transaction and commits it, or rolls it back if `work` throws. */
  async write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const progress: Progress = { isCommitting: false, isAbandoned: false }
    const around = async <R>(operation: Operation | 'commit', run: () => Promise<R>) => {
      if (progress.isAbandoned) throw notCommitted()
      if (operation === 'commit') progress.isCommitting = true
      return await timed(this.#emit, operation, run)
    }
    return await this.#writeWithin(progress, (connection) => inTransaction(connection, work, { around }))
  }

  /** Runs `work` on a connection for writes, within the timeout of a write. */
  async #writeWithin<T>(progress: Progress, work: (connection: Connection) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#writeMsMax
    const connection = await this.#writes.acquire()
    const running = work(connection)
    const release = (error?: unknown) =>
      this.#writes.release(connection, error !== undefined && isConnectionError(error, connection))
    const ended = running.then(() => release(), release)
    try {
      return await withTimeout(until - performance.now(), running, () => {
        progress.isAbandoned = true
        return new WriteTimedOut(progress.isCommitting ? outcomeUnknown() : notCommitted(), ended)
      })
    } catch (error) {
      throw progress.isCommitting && mayHaveCommitted(error)
        ? outcomeUnknown(error)
        : failureOf(error, connection)
    }
  }

  async close(): Promise<void> {
    this.primary.close()
    await this.#nodes?.close()
    await Promise.all([this.#reads.pool.close(), this.#pipelined.close(), this.#writes.close()])
  }
}

interface Progress {
  isCommitting: boolean
  /** The caller has received an error that reports that nothing was written, so the transaction must not write any more. */
  isAbandoned: boolean
}
