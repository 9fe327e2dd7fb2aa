import pg from 'pg'
import type { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { sql } from '../sql.ts'
import { epoch } from '../tally-state.ts'
import {
  connectionDefaults,
  currentSettings,
  destroyConnection,
  isDestroyed,
  localSettingsOf,
  type ServingConfig,
  type ServingDatabase,
  setLocalSettings,
} from './connections.ts'
import { serverUrls } from './database-url.ts'
import { firstServer } from './first-server.ts'
import { changingOver, failureToConnect, isStatementLost, statementsLost, storeAway } from './sqlstate.ts'

interface Server {
  readonly epoch: string
  /** The same on all servers that replicate from each other. */
  readonly system: string
}

/** A connection that is being opened. */
interface Opening {
  readonly client: pg.Client
  readonly number: number
  readonly begunAt: number
}

/** Fails on a standby: there is no current WAL position to write to. */
const identify =
  sql`select ${epoch} as epoch, (pg_control_system()).system_identifier::text as system`.statement().text

/**
 * Which server is the primary, as the newest connection shows it. All connections of a process are opened here, and the
 * address is tried once a second: a connection that stays open may lead to a server that is the primary no more, and
 * that server does not know. When another server answers, all connections to the one before are closed.
 */
export class Primary {
  readonly #database: ServingDatabase
  readonly #urls: readonly string[]
  readonly #epochs = new WeakMap<pg.ClientBase, string>()
  readonly #onChange = new Set<(epoch: string) => void>()
  /** Clients whose backend goes on after its deadline. */
  readonly #overdue = new Set<pg.Client>()
  readonly #timer: NodeJS.Timeout
  #preferred = 0
  #current: Server | undefined
  /** Connections are numbered when they are begun: one that was begun earlier never overrules a later one. */
  #begun = 0
  #newest = 0
  readonly #opening = new Set<Opening>()
  #failures = 0
  #retryAt = 0
  #failure: Failure | undefined
  #checking: Promise<void> | undefined
  #fault: Failure | undefined

  constructor(database: ServingDatabase) {
    this.#database = database
    this.#urls = serverUrls(database.url)
    this.#timer = setInterval(() => void this.#startCheck(), limits.primaryCheckMs).unref()
  }

  /** Why requests fail again and again though the database is there; it stays until the process is configured otherwise. */
  get fault(): Failure | undefined {
    return this.#fault
  }

  /** Called with the epoch of the new primary: connections of any other are to be closed. */
  onChange(then: (epoch: string) => void): void {
    this.#onChange.add(then)
  }

  /** Whether a row may be believed. One that does not say where it comes from may. */
  isCurrent(row: object | undefined): boolean {
    if (row === undefined || !('epoch' in row)) return true
    return row.epoch === this.#current?.epoch
  }

  /** Whether this connection leads to the server that is the primary now. */
  leadsToCurrent(client: pg.ClientBase): boolean {
    return this.#epochs.get(client) === this.#current?.epoch
  }

  /** A new connection to the primary. After a failure the next ones fail at once, for a short time. */
  async open(config: ServingConfig): Promise<pg.Client> {
    if (this.#failure !== undefined && performance.now() < this.#retryAt) throw this.#failure
    try {
      return await this.#openAny(config)
    } catch (error) {
      throw this.#backOff(failureToConnect(error))
    }
  }

  /** Compares over a fresh connection. Fails silently: the connections that are open may still do. */
  check(): Promise<void> {
    return this.#checking ?? this.#startCheck()
  }

  /** Also while another check is awaited: that one may lead to a server that is silent, and this one to another. */
  #startCheck(): Promise<void> {
    const checking = this.#check().finally(() => {
      if (this.#checking === checking) this.#checking = undefined
    })
    this.#checking = checking
    return checking
  }

  /** Ends a backend that goes on after its deadline, which PostgreSQL does only when it next looks for signals. */
  terminate(client: pg.Client): void {
    // Behind a pooler its number is not that of a backend.
    if (localSettingsOf(client) !== undefined) {
      destroyConnection(client)
      return
    }
    this.#overdue.add(client)
    client.once('end', () => this.#overdue.delete(client))
    void this.check()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    try {
      const client = await this.#openAny({ application_name: 'quartermaster check' })
      try {
        if (this.#overdue.size > 0) await this.#endOverdue(client)
      } finally {
        client.end().catch(() => {})
      }
    } catch (error) {
      this.#backOff(failureToConnect(error))
    }
  }

  async #endOverdue(client: pg.Client): Promise<void> {
    const overdue = [...this.#overdue]
    const { rows } = await client.query<{ pid: number }>(
      'select pid, pg_terminate_backend(pid) from pg_stat_activity where pid = any($1)',
      [overdue.map(({ processID }) => processID)],
    )
    const there = new Set(rows.map(({ pid }) => pid))
    for (const one of overdue) if (!there.has(one.processID)) destroyConnection(one)
  }

  async #openAny(config: ServingConfig): Promise<pg.Client> {
    const until = performance.now() + limits.connectMsMax
    for (;;) {
      const first = this.#begun + 1
      try {
        return await this.#openFirst(config)
      } catch (error) {
        const isOvertaken = this.#newest > first
        if (!isOvertaken || performance.now() > until) throw error
      }
    }
  }

  async #openFirst(config: ServingConfig): Promise<pg.Client> {
    const [{ client }, place] = await firstServer(this.#urls, this.#preferred, {
      open: (url) => this.#openOne(url, config),
      accept: (opened) => this.#accept(opened),
      discard: (opened) => destroyConnection(opened.client),
    })
    this.#preferred = place
    this.#failures = 0
    this.#failure = undefined
    return client
  }

  async #openOne(url: string, config: ServingConfig): Promise<Opening & { readonly server: Server }> {
    const client = new pg.Client({ ...connectionDefaults, ...config, connectionString: url })
    // A connection that breaks fails its statement, and says so a second time: without a listener that ends the process.
    client.on('error', (error) => {
      if (!isDestroyed(client)) this.#database.emit({ kind: 'connection-broken', error })
    })
    const opening: Opening = { client, number: ++this.#begun, begunAt: performance.now() }
    this.#opening.add(opening)
    client.connection.on('errorMessage', (error: { code?: string }) => {
      if (isStatementLost(error)) this.#fault ??= statementsLost(error)
    })
    const late = setTimeout(() => destroyConnection(client), limits.connectMsMax)
    try {
      await client.connect()
      const { rows } = await client.query<Server>(identify)
      const [server] = rows
      if (server === undefined) throw new Error('The server does not say which one it is.')
      if (config.localSettings !== undefined) setLocalSettings(client, config.localSettings)
      else await confirm(client, config.expected ?? {})
      return { ...opening, server }
    } catch (error) {
      destroyConnection(client)
      throw error
    } finally {
      clearTimeout(late)
      this.#opening.delete(opening)
    }
  }

  #accept({ client, server, number, begunAt }: Opening & { readonly server: Server }): void {
    const before = this.#current
    this.#observe(server, number)
    this.#epochs.set(client, server.epoch)
    const isAnother = server.epoch !== before?.epoch
    for (const other of this.#opening) {
      const isOvertaken =
        other.number < number && (isAnother || other.begunAt < begunAt - limits.connectLagMsMax)
      if (isOvertaken) destroyConnection(other.client)
    }
  }

  #observe(server: Server, number: number): void {
    const current = this.#current
    if (current !== undefined && server.system === current.system && isEarlier(server, current)) {
      throw storeAway(
        undefined,
        'The database answers as an earlier primary: another server has been promoted since. If a backup was restored ' +
          'on purpose, restart this process.',
      )
    }
    if (number < this.#newest) {
      if (server.epoch !== current?.epoch) throw changingOver()
      return
    }
    this.#newest = number
    if (server.epoch === current?.epoch) return
    this.#current = server
    if (current === undefined) return
    this.#database.emit({ kind: 'primary-changed', timeline: timelineOf(server) })
    for (const then of this.#onChange) then(server.epoch)
  }

  #backOff(failure: Failure): Failure {
    this.#failures++
    const ms = Math.min(limits.reconnectMsMin * 2 ** (this.#failures - 1), limits.reconnectMsMax)
    this.#retryAt = performance.now() + ms
    this.#failure = failure
    return failure
  }
}

/**
 * A pooler may be told to ignore what a connection begins with. Then requests would be served with the login's own rights
 * and without the bounds on what a statement may cost, so they are refused.
 */
async function confirm(client: pg.Client, expected: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.keys(expected)
  if (names.length === 0) return
  const rows = await currentSettings(client, names)
  const dropped = rows.filter(({ name, is }) => is !== expected[name]).map(({ name }) => name)
  if (dropped.length === 0) return
  throw storeAway(
    undefined,
    `A connection pooler before the database drops settings of the service (${dropped.join(', ')}). Its operator has to ` +
      'set DATABASE_POOLER=transaction, or to give them to the login: quartermaster doctor says how.',
  )
}

/** By timeline: promoting a standby begins the next one. */
function isEarlier(one: Server, other: Server): boolean {
  return timelineOf(one) < timelineOf(other)
}

function timelineOf(server: Server): string {
  return server.epoch.slice(-8)
}
