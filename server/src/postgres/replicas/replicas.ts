import { DatabaseError } from 'pg'
import type { Failure } from '../../errors/errors.ts'
import type { FallbackReason } from '../../observability/events.ts'
import { placeholder, type StateStatement, sql } from '../../sql.ts'
import {
  compareReplica,
  isAtLeast,
  type ReplicaStanding,
  type ReplicaState,
  replicaColumns,
  stateColumns,
  type Tally,
  type TallyState,
  writerEpoch,
} from '../../tally-state.ts'
import { withTimeout } from '../../timeout.ts'
import { type PoolState, sumOfPools } from '../connection-pool.ts'
import type { Database } from '../database.ts'
import { type ReadOptions, runRead } from '../pooled-reads.ts'
import { failureOf } from '../sqlstate.ts'
import type { StateRow } from '../text-rows.ts'
import { Replica, type ReplicaOptions } from './replica.ts'

/** What the verification has read from the primary. */
export interface VerifiedState {
  readonly accountId: string
  readonly resource: string
  readonly tally: Tally
}

export interface ReplicasOptions extends Omit<ReplicaOptions, 'primarySystem'> {
  readonly database: Database
}

/** On the primary, with a hash of the server's own epoch. */
interface PrimaryState extends TallyState {
  readonly server: string
}

const account = placeholder()
const resource = placeholder()
const tallyRow = sql`from tally t where t.account_id = ${account}::bigint and t.resource = ${resource}::text`
const stateOnReplica = sql`select ${replicaColumns} ${tallyRow}`.template(
  [account, resource],
  'replica_check',
)
const stateOnPrimary = sql`select ${stateColumns}, ${writerEpoch} as server ${tallyRow}`.template(
  [account, resource],
  'replica_check',
  'pipelined',
)

/**
 * Runs long reads on replicas, which are used round robin. A result is accepted only if its own snapshot has the state that the
 * verification has read from the primary in the same request, or a later one that the primary confirms. Otherwise the
 * primary answers.
 */
export class Replicas {
  readonly #replicas: readonly Replica[]
  readonly #options: ReplicasOptions
  #next = 0

  constructor(urls: readonly string[], options: ReplicasOptions) {
    this.#options = options
    const primarySystem = () => options.database.primary.system
    this.#replicas = urls.map((url) => new Replica(url, { ...options, primarySystem }))
  }

  get counts(): { readonly configured: number; readonly available: number } {
    const available = this.#replicas.filter(({ isAvailable }) => isAvailable).length
    return { configured: this.#replicas.length, available }
  }

  /** The connections for reads to all replicas together. */
  get pools(): readonly PoolState[] {
    return sumOfPools(this.#replicas.map(({ reads }) => ({ ...reads.pool.state, pool: 'replicas' })))
  }

  /** Runs a statement that returns `stateColumns` and one row. Undefined if the primary must run it. */
  read<Row extends StateRow<Row> & TallyState>(
    statement: StateStatement,
    verified: VerifiedState,
    options: ReadOptions,
  ): Promise<Row | undefined> {
    return this.roundRobin('list', (replica) => this.#readOn<Row>(replica, statement, verified, options))
  }

  /**
   * Calls `attempt` with one replica after the other until one returns a result instead of a reason. Undefined if none does,
   * or after `replicaAttemptsMax`. Rejects if the result would be the same on the primary.
   */
  async roundRobin<Result extends object>(
    operation: 'list' | 'export',
    attempt: (replica: Replica) => Promise<Result | FallbackReason>,
  ): Promise<Result | undefined> {
    if (this.#replicas.length === 0 || this.#options.database.primary.layout?.hasReplicas === false)
      return undefined
    const available = this.#available()
    let reason: FallbackReason = 'unavailable'
    for (const replica of available.slice(0, this.#options.limits.replicaAttemptsMax)) {
      const result = await this.#try(replica, attempt)
      if (typeof result !== 'string') {
        this.#options.emit({ kind: 'replica-read', operation, server: 'replica', reason: 'none' })
        return result
      }
      reason = result
    }
    this.#options.emit({ kind: 'replica-read', operation, server: 'primary', reason })
    return undefined
  }

  /** A method, so that a check can show that it is needed. */
  compare(row: ReplicaState, tally: Tally): ReplicaStanding {
    return compareReplica(row, tally)
  }

  /**
   * The state of a row of a replica, as the primary would have returned it; or why it cannot be used. A later version may not
   * be visible on the primary yet: PostgreSQL sends a commit to its standbys before. A client that has seen it must
   * not get an earlier one from the primary, so the primary must have it.
   */
  async accept(row: ReplicaState, verified: VerifiedState): Promise<TallyState | FallbackReason> {
    const { version, xid } = row
    const { accountId, resource: name, tally } = verified
    const standing = this.compare(row, tally)
    const state = { epoch: tally.epoch, version, xid }
    if (standing === 'same') return state
    if (standing !== 'later') return standing
    const { database } = this.#options
    const [current] = await database.read<PrimaryState>(stateOnPrimary([accountId, name])).catch(() => [])
    if (current === undefined || !isAtLeast(current, state)) return 'unconfirmed'
    // Written by this primary since its start, so part of its timeline.
    return current.server === row.writer ? state : 'diverged'
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.close()))
  }

  #available(): Replica[] {
    const start = this.#next++ % this.#replicas.length
    const inOrder = [...this.#replicas.slice(start), ...this.#replicas.slice(0, start)]
    return inOrder.filter(({ isAvailable }) => isAvailable)
  }

  async #try<Result extends object>(
    replica: Replica,
    attempt: (replica: Replica) => Promise<Result | FallbackReason>,
  ): Promise<Result | FallbackReason> {
    const startedAt = performance.now()
    try {
      const result = await attempt(replica)
      if (typeof result !== 'string') replica.succeeded()
      return result
    } catch (error) {
      const failure = failureOf(error)
      const isTimedOut = performance.now() - startedAt >= this.#options.readMsMax
      if (failure.code === 'client_disconnected' || (failure.code === 'deadline_exceeded' && isTimedOut))
        throw failure
      replica.failed()
      return reasonOf(failure)
    }
  }

  async #readOn<Row extends StateRow<Row> & TallyState>(
    replica: Replica,
    statement: StateStatement,
    verified: VerifiedState,
    options: ReadOptions,
  ): Promise<Row | FallbackReason> {
    if (!replica.reads.pool.hasFree) return 'busy'
    const onReplica = { ...statement, text: statement.replicaText() }
    const { emit, limits } = this.#options
    const { accountId, resource: name, tally } = verified
    // Without the epoch, which is added below.
    type ReplicaRow = Row & ReplicaState
    const result = await replica.reads.read(
      async (connection): Promise<ReplicaRow | FallbackReason> => {
        // First only the tally: a long read that is not accepted would run twice.
        const check = { ...stateOnReplica([accountId, name]), execution: statement.execution }
        const [state] = await withTimeout(
          limits.replicaSilenceMsMax,
          runRead<ReplicaState>(connection, check, emit),
          () => new Error('The replica does not respond.'),
        )
        const standing = state === undefined ? 'behind' : this.compare(state, tally)
        if (standing !== 'same' && standing !== 'later') return standing
        const [row] = await runRead<ReplicaRow>(connection, onReplica, emit)
        return row ?? 'behind'
      },
      options,
      () => true,
    )
    if (typeof result === 'string') return result
    const state = await this.accept(result, verified)
    return typeof state === 'string' ? state : { ...result, ...state }
  }
}

function reasonOf({ code, cause }: Failure): FallbackReason {
  if (code === 'overloaded') return 'busy'
  const sqlState = cause instanceof DatabaseError ? cause.code : undefined
  // Cancelled because the primary has removed rows or locked a table that the statement reads.
  return sqlState === '40001' || sqlState === '40P01' ? 'conflict' : 'failed'
}
