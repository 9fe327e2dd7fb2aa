import pg from 'pg'
import type { EmitEvent } from '../observability/events.ts'
import type { Statement } from '../sql.ts'
import { type Layout, singleServer } from './layout.ts'
import { keepLongRows } from './long-rows.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { connectionDefaults, type ServingConfig, setLocal, verifySettings } from './settings.ts'
import { TextQuery, type TextRow } from './text-rows.ts'

/** A connection to PostgreSQL, and everything that is known about it. */
export class Connection extends pg.Client {
  /** What the opener of the connection knows its server by. It is current as long as the opener has the same object. */
  server: object | undefined
  layout: Layout = singleServer
  /**
   * `set local …` with which every transaction begins. Only if a pooler assigns a backend to each transaction: then the next one
   * has neither these settings nor the prepared statements and temporary tables of this one.
   */
  localSettings: string | undefined
  /** The resource whose staging table exists on this connection. */
  stagedResource: string | undefined
  /** When it was last released, by `performance.now()`. */
  idleSince = 0
  readonly #statements = new PreparedStatements(this.connection)
  #hasGenericPlans = false
  #isDestroyed = false

  constructor(config: ServingConfig = {}, emit: EmitEvent = () => {}) {
    super({ ...connectionDefaults, ...config })
    this.localSettings = config.localSettings
    if (config.keepsLongRows === true) keepLongRows(this)
    // A broken connection fails its statement, and pg also emits an error event. Without a listener, the process would exit.
    this.on('error', (error) => {
      if (!this.#isDestroyed) emit({ kind: 'connection-broken', error })
    })
  }

  /** Connects and runs the first statements. If both take longer than `ms`, or fail, the connection is closed. */
  async open<T>(ms: number, first: () => Promise<T>): Promise<T> {
    let isTimedOut = false
    // Not that of pg, which ends before the first statement: a server that fails just then never answers it.
    const timeout = setTimeout(() => {
      isTimedOut = true
      this.destroy()
    }, ms)
    try {
      await this.connect()
      return await first()
    } catch (error) {
      // pg leaves the socket open, for example if the server requests a password and none is set. The process would not exit.
      this.destroy()
      throw isTimedOut ? new Error('timeout expired', { cause: error }) : error
    } finally {
      clearTimeout(timeout)
    }
  }

  /** For a serving connection, before its first request. */
  async prepareToServe({ expected = {} }: ServingConfig, layout: Layout): Promise<void> {
    if (this.localSettings === undefined) await verifySettings(this, expected)
    this.layout = layout
    const settings = setLocal(layout.settings)
    if (settings === '') return
    if (this.localSettings !== undefined) this.localSettings = `${this.localSettings}; ${settings}`
    else await this.query(settings.replaceAll('set local', 'set'))
  }

  /** `begin`, with the local settings if there are any. These come too late for the isolation level of the transaction. */
  beginText(mode = 'isolation level read committed'): string {
    return this.localSettings === undefined ? `begin ${mode}` : `begin ${mode}; ${this.localSettings}`
  }

  /**
   * Returns values as text. `msMax`: a timeout other than that of the connection. Not async: every request calls this, and a second
   * promise would cost time.
   */
  read<Row extends TextRow<Row>>(statement: Statement, msMax?: number): Promise<Row[]> {
    if (msMax !== undefined) return this.#readWithin<Row>(statement, msMax)
    return this.localSettings === undefined
      ? this.#readOne<Row>(statement)
      : this.#readInTransaction<Row>(statement)
  }

  /** Returns values parsed by their types. */
  run<Row extends pg.QueryResultRow>(
    { text, values, execution }: Statement,
    isPrepared = execution !== undefined,
  ): Promise<pg.QueryResult<Row>> {
    const name = isPrepared ? this.#nameOf(text) : undefined
    return this.query<Row>({ ...(name === undefined ? {} : { name }), text, values: [...values] })
  }

  /**
   * For a statement of class `generic`, one plan is best for all values. If a limit or an offset is among the values,
   * PostgreSQL estimates otherwise and plans every execution, which takes longer than the execution itself.
   */
  async setPlanCacheMode({ execution }: Statement): Promise<void> {
    const isGeneric = execution !== undefined
    // Behind a pooler, each transaction sets it. A layout may need one value for all statements.
    if (this.localSettings !== undefined || 'plan_cache_mode' in this.layout.settings) return
    if (this.#hasGenericPlans === isGeneric) return
    await this.query(`set plan_cache_mode = ${isGeneric ? 'force_generic_plan' : 'auto'}`)
    this.#hasGenericPlans = isGeneric
  }

  get isDestroyed(): boolean {
    return this.#isDestroyed
  }

  /** Closes the socket without a Terminate message: for a server that does not respond, or is no longer the primary. */
  destroy(): void {
    this.#isDestroyed = true
    this.connection.stream.destroy()
  }

  async #readWithin<Row extends TextRow<Row>>(statement: Statement, msMax: number): Promise<Row[]> {
    await this.query(`${this.beginText()}; ${setLocal({ statement_timeout: msMax })}`)
    try {
      return await this.#readOne<Row>(statement)
    } finally {
      // It only reads: what ends the transaction does not matter.
      await this.query('rollback')
    }
  }

  #nameOf(text: string): string | undefined {
    return this.localSettings === undefined ? this.#statements.nameOf(text) : undefined
  }

  #readOne<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const name = statement.execution === undefined ? undefined : this.#nameOf(statement.text)
    return new Promise((resolve, reject) => {
      const query: TextQuery = new TextQuery(statement, name, (error) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement determines the columns
        if (error == null) resolve(query.textRows as Row[])
        else reject(error)
      })
      this.query(query)
    })
  }

  /**
   * Runs the statement in a transaction that begins with the local settings. On a pipelined connection, all three are sent before
   * the first result arrives.
   */
  async #readInTransaction<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    // Pipelined connections have plan_cache_mode among their local settings.
    const generic =
      statement.execution === 'generic' ? '; set local plan_cache_mode = force_generic_plan' : ''
    const [begun, read, ended] = await Promise.allSettled([
      this.query(`${this.beginText()}${generic}`),
      this.#readOne<Row>(statement),
      this.query('commit'),
    ])
    // The first error is the cause: PostgreSQL then rejects every later statement of the transaction.
    if (begun.status === 'rejected') throw begun.reason
    if (read.status === 'rejected') throw read.reason
    if (ended.status === 'rejected') throw ended.reason
    return read.value
  }
}
