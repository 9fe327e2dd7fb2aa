import pg from 'pg'
import { backoff } from '../../backoff.ts'
import type { Failure } from '../../errors/errors.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import { type Statement, sql } from '../../sql.ts'
import { epoch } from '../../tally-state.ts'
import { Connection } from '../connection.ts'
import type { ConnectionSource } from '../connection-pool.ts'
import type { Layout } from '../layout.ts'
import { loadLayout } from '../load-layout.ts'
import { checkConnection, type ServingConfig, type ServingDatabase } from '../settings.ts'
import { SilenceDetector } from '../silence-detector.ts'
import {
  connectFailureOf,
  databaseUnavailable,
  failingOver,
  isPreparedStatementLost,
  preparedStatementsLost,
} from '../sqlstate.ts'
import { connectMs, serverUrls } from './database-url.ts'
import { firstServer } from './first-server.ts'

interface Server {
  readonly epoch: string
  /** The same on all servers that replicate from each other. */
  readonly system: string
  readonly layout: Layout
}

interface ServerRow extends Omit<Server, 'layout'> {
  readonly extensions: readonly string[]
}

/** A connection that is being opened. */
interface Opening {
  readonly connection: Connection
  readonly number: number
  readonly startedAt: number
}

/** Fails on a standby, which has no current WAL position. */
const identify = sql`select ${epoch} as epoch, (pg_control_system()).system_identifier::text as system,
  array(select extname::text from pg_extension) as extensions`.statement().text

/**
 * Finds out which server is the primary, and opens all connections of the process. It opens a new connection once a
 * second, because an open connection may be to a server that is no longer the primary and has not noticed. If the new
 * connection reaches another server, all connections to the previous one are closed.
 */
export class Primary implements ConnectionSource {
  readonly #database: ServingDatabase
  readonly #limits: Limits
  readonly #urls: readonly string[]
  readonly #onChange = new Set<(epoch: string) => void>()
  readonly #onSilent = new Set<() => void>()
  /** Connections whose backend still runs a statement after its deadline. */
  readonly #overdue = new Set<Connection>()
  readonly #timer: NodeJS.Timeout
  #preferred = 0
  readonly #silence: SilenceDetector
  #current: Server | undefined
  /** Connections are numbered when they are started. An older one never overrules what a newer one found. */
  #lastStarted = 0
  #newestAccepted = 0
  readonly #opening = new Set<Opening>()
  #failures = 0
  #retryAt = 0
  #failure: Failure | undefined
  #checking: Promise<void> | undefined
  #fault: Failure | undefined
  #isClosed = false

  constructor(database: ServingDatabase & { readonly limits: Limits }) {
    this.#database = database
    this.#limits = database.limits
    this.#urls = serverUrls(database.url)
    this.#silence = new SilenceDetector(database.limits.unansweredChecksMax)
    this.#timer = setInterval(() => this.#checkAgain(), database.limits.primaryCheckMs).unref()
  }

  /** A misconfiguration that makes requests fail although the database responds. It remains until the process restarts. */
  get fault(): Failure | undefined {
    return this.#fault
  }

  /** The system identifier of the primary, which its replicas share. Undefined before the first connection. */
  get system(): string | undefined {
    return this.#current?.system
  }

  /** The listener is called with the epoch of the new primary, and must close its connections to other servers. */
  onChange(listener: (epoch: string) => void): void {
    this.#onChange.add(listener)
  }

  /**
   * The listener is called while the server responds neither to new connections nor to statements, and must close its
   * connections: nothing else ends a statement in flight to a machine that is lost, or to a process that is stopped.
   */
  onSilent(listener: () => void): void {
    this.#onSilent.add(listener)
  }

  /** Called with every result of a statement. */
  responded(): void {
    this.#silence.responded()
  }

  /** The current primary. Undefined until the first connection is open. */
  get server(): object | undefined {
    return this.#current
  }

  /** Whether the last attempt to connect has succeeded. */
  get isReachable(): boolean {
    return this.#current !== undefined && this.#failure === undefined
  }

  /** Undefined until the first connection is open. */
  get layout(): Layout | undefined {
    return this.#current?.layout
  }

  /** Whether the rows were read from the current primary. Rows of a statement without state columns do not tell. */
  isSourceOf(statement: Statement, rows: readonly { readonly epoch?: unknown }[]): boolean {
    const [row] = rows
    return statement.replicaText === undefined || row === undefined || this.hasEpoch(row.epoch)
  }

  /** Whether a row with this epoch was read from the current primary. */
  hasEpoch(rowEpoch: unknown): boolean {
    return this.#current?.layout.isCurrent(rowEpoch, this.#current.epoch) === true
  }

  /** Opens a connection to the primary. For a short time after a failure, calls fail at once with the same error. */
  async open(config: ServingConfig): Promise<Connection> {
    if (this.#failure !== undefined && performance.now() < this.#retryAt) throw this.#failure
    try {
      return await this.#openAny(config)
    } catch (error) {
      throw this.#backOff(connectFailureOf(error))
    }
  }

  /** Opens a connection to find out which server is the primary. Never rejects: open connections may still work. */
  check(): Promise<void> {
    return this.#checking ?? this.#startCheck()
  }

  #checkAgain(): void {
    if (this.#silence.check()) for (const listener of this.#onSilent) listener()
    void this.#startCheck()
  }

  /** Does not wait for a check in flight: that one may have reached a server that does not respond. */
  #startCheck(): Promise<void> {
    const checking = this.#check().finally(() => {
      if (this.#checking === checking) this.#checking = undefined
    })
    this.#checking = checking
    return checking
  }

  /** Terminates a backend whose statement PostgreSQL did not cancel at its deadline. */
  terminate(connection: Connection): void {
    // Behind a pooler, processID is not the id of a backend.
    if (connection.localSettings !== undefined) {
      connection.destroy()
      return
    }
    this.#overdue.add(connection)
    connection.once('end', () => this.#overdue.delete(connection))
    void this.check()
  }

  /** Also closes connections that are being opened: one that opens later would keep the process alive. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const { connection } of this.#opening) connection.destroy()
  }

  async #check(): Promise<void> {
    try {
      const connection = await this.#openAny(checkConnection(this.#database))
      try {
        if (this.#overdue.size > 0) await this.#terminateOverdue(connection)
      } finally {
        connection.end().catch(() => {})
      }
    } catch (error) {
      this.#backOff(connectFailureOf(error))
    }
  }

  async #terminateOverdue(connection: Connection): Promise<void> {
    const overdue = [...this.#overdue]
    const { rows } = await connection.query<{ pid: number }>(
      'select pid, pg_terminate_backend(pid) from pg_stat_activity where pid = any($1)',
      [overdue.map(({ processID }) => processID)],
    )
    const running = new Set(rows.map(({ pid }) => pid))
    for (const each of overdue) if (!running.has(each.processID)) each.destroy()
  }

  /**
   * Tries again if the attempt failed only because `#accept` closed it: meanwhile a newer connection found the primary.
   */
  async #openAny(config: ServingConfig): Promise<Connection> {
    const until = performance.now() + this.#limits.connectMsMax
    for (;;) {
      const first = this.#lastStarted + 1
      try {
        return await this.#openFirst(config)
      } catch (error) {
        const isOvertaken = this.#newestAccepted > first
        if (!isOvertaken || performance.now() > until) throw error
      }
    }
  }

  async #openFirst(config: ServingConfig): Promise<Connection> {
    const [{ connection }, index] = await firstServer(this.#urls, this.#preferred, {
      open: (url) => this.#openOne(url, config),
      accept: (opened) => this.#accept(opened),
      discard: (opened) => opened.connection.destroy(),
    })
    this.#preferred = index
    this.#failures = 0
    this.#failure = undefined
    return connection
  }

  async #openOne(url: string, config: ServingConfig): Promise<Opening & { readonly server: Server }> {
    if (this.#isClosed) throw databaseUnavailable()
    const connection = new Connection({ ...config, connectionString: url }, this.#database.emit)
    const opening: Opening = { connection, number: ++this.#lastStarted, startedAt: performance.now() }
    this.#opening.add(opening)
    connection.connection.on('errorMessage', (error: { code?: string }) => {
      if (isPreparedStatementLost(error)) this.#fault ??= preparedStatementsLost(error)
    })
    try {
      const ms = connectMs(url, this.#limits.connectMsMax)
      const server = await connection.open(ms, () => this.#identify(connection, config))
      return { ...opening, server }
    } catch (error) {
      // It may have too many connections, for example.
      if (error instanceof pg.DatabaseError) this.responded()
      throw error
    } finally {
      this.#opening.delete(opening)
    }
  }

  async #identify(connection: Connection, config: ServingConfig): Promise<Server> {
    const { rows } = await connection.query<ServerRow>(identify)
    const [row] = rows
    this.responded()
    if (row === undefined) throw new Error('The server did not return its epoch.')
    const { extensions, ...server } = row
    const layout = await loadLayout(extensions)
    await connection.prepareToServe(config, layout)
    return { ...server, layout }
  }

  #accept({ connection, server, number, startedAt }: Opening & { readonly server: Server }): void {
    const previous = this.#current
    this.#updateCurrent(server, number)
    connection.server = this.#current
    const hasChanged = this.#current !== previous
    // Attempts that started earlier and are still not open are likely to a server that does not respond.
    for (const other of this.#opening) {
      const isOvertaken =
        other.number < number && (hasChanged || other.startedAt < startedAt - this.#limits.connectLagMsMax)
      if (isOvertaken) other.connection.destroy()
    }
  }

  /** Throws if the server is a former primary. */
  #updateCurrent(server: Server, number: number): void {
    const current = this.#current
    if (current !== undefined && server.system === current.system && isEarlier(server, current)) {
      throw databaseUnavailable(
        undefined,
        'The database server at this address is a former primary: another server has been promoted since. If the operator ' +
          'has restored a backup on purpose, the service must be restarted.',
      )
    }
    if (number < this.#newestAccepted) {
      if (!isSame(server, current)) throw failingOver()
      return
    }
    this.#newestAccepted = number
    if (isSame(server, current)) return
    this.#current = server
    if (current === undefined) return
    this.#database.emit({ kind: 'primary-changed', timeline: timelineOf(server) })
    for (const listener of this.#onChange) listener(server.epoch)
  }

  #backOff(failure: Failure): Failure {
    const { reconnectMsMin, reconnectMsMax } = this.#limits
    this.#retryAt = performance.now() + backoff(++this.#failures, reconnectMsMin, reconnectMsMax)
    this.#failure = failure
    return failure
  }
}

/** Another layout of the tables needs other statements. */
function isSame(one: Server | undefined, other: Server | undefined): boolean {
  return one?.epoch === other?.epoch && one?.layout === other?.layout
}

/** By timeline: promoting a standby starts a new one. */
function isEarlier(a: Server, b: Server): boolean {
  return timelineOf(a) < timelineOf(b)
}

function timelineOf(server: Server): string {
  return server.epoch.slice(-8)
}
