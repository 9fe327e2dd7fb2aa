import { setTimeout as sleep } from 'node:timers/promises'
import {
  ConnectionFailed,
  QuartermasterError,
  ScopeMissing,
  ServiceFault,
  TimedOut,
  Unauthenticated,
} from '@quartermaster/client'
import { Births, type BirthTarget } from './births.ts'
import { BothWays, type UpdateTarget } from './both-ways.ts'
import { Copy } from './copy.ts'
import { Poller } from './poller.ts'
import type { Polling } from './polling.ts'
import type { Records } from './records.ts'
import type { Clock, ResourceName, Source } from './source.ts'
import type { State, StateFile } from './state.ts'
import { newResourceStatus, newStatus, type Status } from './status.ts'
import { Stop } from './stop.ts'
import type { Field } from './values.ts'

/** The source does not respond, or says that it cannot now. The connector waits and tries again. */
export class SourceUnavailable extends Error {
  override name = 'SourceUnavailable'
}

export interface ConnectorParts {
  readonly clock: Clock
  readonly keyField: string
  readonly sources: readonly { readonly source: Source; readonly fields: readonly Field[] }[]
  readonly recordsOf: (resource: ResourceName) => Records
  readonly births:
    | {
        readonly target: BirthTarget
        readonly fields: readonly string[]
        readonly filter: string | undefined
      }
    | undefined
  /** Fields of partners whose changes here go to the source. */
  readonly updates:
    | { readonly target: UpdateTarget; readonly fields: readonly Field[]; readonly agreedField: string }
    | undefined
  /** Throws a Stop if the source is another one than that of the state. Called at the start and with each sweep. */
  readonly guard: (state: State) => Promise<void>
  readonly calls: () => Status['calls']
  readonly polling: Polling
  readonly log: (line: string) => void
}

export interface RunOptions {
  /** Reads everything once, and ends. */
  readonly once: boolean
  readonly deletesAccepted: number
  /** The source is another database now: what the state remembers of the old one is not compared. */
  readonly acceptDatabase: boolean
  readonly signal: AbortSignal
}

const waitMsMax = 60_000

/** Runs until the signal, or a Stop. */
export class Connector {
  readonly status: Status = newStatus()
  readonly #parts: ConnectorParts
  readonly #file: StateFile
  readonly #state: State
  readonly #pollers: readonly Poller[]
  readonly #births: Births | undefined
  readonly #options: RunOptions
  #isStarted = false
  #guardedAt = 0

  constructor(parts: ConnectorParts, file: StateFile, options: RunOptions) {
    this.#parts = parts
    this.#file = file
    this.#options = options
    const state = file.read()
    this.#state = options.acceptDatabase ? { ...state, identity: {}, resources: {} } : state
    // They come again only when they are changed.
    Object.assign(this.status.births.refused, state.status?.births.refused)
    Object.assign(this.status.updates.conflicts, state.status?.updates?.conflicts)
    this.#state.status = this.status
    this.#pollers = parts.sources.map(({ source, fields }) => {
      const { resource } = source
      const position = this.#state.resources[resource] ?? newPosition()
      const status = newResourceStatus()
      this.#state.resources[resource] = position
      this.status.resources[resource] = status
      const copy = this.#copyOf(resource, fields)
      return new Poller(source, copy, { state: position, status }, parts.clock, {
        polling: parts.polling,
        deletesAccepted: options.deletesAccepted,
      })
    })
    this.#births =
      parts.births === undefined
        ? undefined
        : new Births(
            parts.recordsOf('partner'),
            { ...parts.births, keyField: parts.keyField },
            parts.births.target,
            { state: this.#state, status: this.status, save: () => this.#save() },
          )
  }

  #copyOf(resource: ResourceName, fields: readonly Field[]): Copy {
    const { keyField, recordsOf, updates } = this.#parts
    const records = recordsOf(resource)
    if (updates === undefined || resource !== 'partner') return new Copy(records, keyField, fields)
    const bothWays = new BothWays(records, { keyField, ...updates }, updates.target, this.status)
    return new Copy(records, keyField, [...fields, { name: updates.agreedField, kind: 'text' }], bothWays)
  }

  async run(): Promise<void> {
    for (let failures = 0; !this.#options.signal.aborted; ) {
      try {
        if (!this.#isStarted) await this.#start()
        await this.#tick()
        failures = 0
        this.#show('running', null)
        if (this.#options.once) return
        await this.#pause(this.#parts.polling.hot * 1000)
      } catch (error) {
        if (this.#options.signal.aborted) return
        const stop = stopOf(error)
        if (stop !== undefined || !isTemporary(error)) {
          this.#show('stopped', (stop ?? (error instanceof Error ? error : new Error(String(error)))).message)
          throw stop ?? error
        }
        failures++
        this.#show('waiting', String(error))
        this.#parts.log(`waiting: ${String(error)}`)
        await this.#pause(Math.min(waitMsMax, 1000 * 2 ** Math.min(failures, 6)))
      }
    }
  }

  async #start(): Promise<void> {
    const { log } = this.#parts
    this.#show('starting', null)
    await this.#guard()
    for (const poller of this.#pollers) {
      const { source, copy } = poller
      log(`${source.resource}: ${await copy.load()} records here`)
      if (this.#options.acceptDatabase) continue
      if (poller.state.newest.length > 0) await poller.verifyNewest()
      else await poller.verifySample()
    }
    // Before any row is read: a record that was born here must have its key by then.
    await this.#births?.step()
    for (const poller of this.#pollers) {
      if (!poller.isNew && !this.#options.once) continue
      this.#show('first_load', null)
      const started = Date.now()
      let rows = 0
      await poller.first((read) => {
        rows = read
        this.#show('first_load', null)
      })
      // The sweep of the first step deletes what the source does not have.
      poller.state.sweep = 0
      const { inserted, updated } = poller.status
      log(
        `${poller.source.resource}: ${rows} rows in ${((Date.now() - started) / 1000).toFixed(1)} s, ${inserted} inserted, ${updated} updated`,
      )
    }
    this.#isStarted = true
  }

  async #tick(): Promise<void> {
    if (Date.now() - this.#guardedAt > this.#parts.polling.sweep * 1000) await this.#guard()
    await this.#births?.step()
    for (const poller of this.#pollers) {
      if (this.#options.once) poller.state.sweep = 0
      await poller.step()
      if (this.#options.signal.aborted) return
    }
  }

  async #guard(): Promise<void> {
    await this.#parts.guard(this.#state)
    this.#guardedAt = Date.now()
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#options.signal }).catch(() => undefined)
  }

  #show(phase: Status['phase'], problem: string | null): void {
    Object.assign(this.status, {
      phase,
      problem,
      updatedAt: new Date().toISOString(),
      calls: this.#parts.calls(),
    })
    this.#save()
  }

  #save(): void {
    this.#file.write(this.#state)
  }
}

function newPosition() {
  return { hot: 0, late: 0, sweep: 0, rollAfter: null, rollStarted: 0, newest: [] }
}

function stopOf(error: unknown): Stop | undefined {
  if (error instanceof Stop) return error
  if (error instanceof Unauthenticated || error instanceof ScopeMissing)
    return new Stop(
      'target_refused',
      error.message,
      'Give the connector a key of the account with the scopes that check lists.',
    )
  return undefined
}

function isTemporary(error: unknown): boolean {
  if (error instanceof SourceUnavailable || error instanceof TimedOut || error instanceof ServiceFault)
    return true
  if (error instanceof ConnectionFailed) return error.code === 'connection_failed'
  return error instanceof QuartermasterError && 'retryAfterMs' in error
}
