import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { limits } from '../limits.ts'

/** A lock that a migration waits for. */
interface BlockedLock {
  readonly mode: string
  /** The table or index, or the kind of lock where it is on none. */
  readonly target: string
  readonly pid: number
  /** What PostgreSQL shows of the session that holds it; a role without pg_read_all_stats sees less of others. */
  readonly user: string | null
  readonly application: string | null
  readonly state: string | null
  readonly seconds: number | null
}

/** Looks from a second connection at what the first one waits for, and reports each holder once. */
export class LockWatch {
  readonly #client: pg.Client
  readonly #log: (line: string) => void
  #told = ''
  /** What the migration waited for last, as the rest of a sentence. */
  last: string | undefined

  constructor(client: pg.Client, log: (line: string) => void) {
    this.#client = client
    this.#log = log
  }

  /** Watches the session `pid` until the work has ended. */
  async during<T>(pid: number, work: Promise<T>): Promise<T> {
    const ended = new AbortController()
    const watching = this.#watch(pid, ended.signal)
    try {
      return await work
    } finally {
      ended.abort()
      await watching
    }
  }

  async #watch(pid: number, ended: AbortSignal): Promise<void> {
    try {
      while (!ended.aborted) {
        for (const lock of await blockedLocks(this.#client, pid)) this.#note(lock)
        await sleep(limits.migratePollMs, undefined, { signal: ended })
      }
    } catch {
      // It has ended, or the connection broke: the migration itself says what is wrong.
    }
  }

  #note(lock: BlockedLock): void {
    this.last = `${lock.mode} on ${lock.target}, which ${holderOf(lock)}`
    const name = `${lock.mode} ${lock.target} ${lock.pid}`
    if (name === this.#told) return
    this.#told = name
    this.#log(`Waiting for ${this.last}.`)
  }
}

async function blockedLocks(client: pg.Client, pid: number): Promise<BlockedLock[]> {
  const { rows } = await client.query<BlockedLock>(
    `select w.mode, coalesce(w.relation::regclass::text, w.locktype) as target, b.pid, a.usename as user,
       nullif(a.application_name, '') as application, a.state,
       floor(extract(epoch from clock_timestamp() - a.xact_start))::int as seconds
     from pg_locks w cross join lateral unnest(pg_blocking_pids(w.pid)) b(pid)
     left join pg_stat_activity a on a.pid = b.pid
     where w.pid = $1 and not w.granted order by b.pid limit 5`,
    [pid],
  )
  return rows
}

function holderOf({ pid, user, application, state, seconds }: BlockedLock): string {
  const known = [
    application,
    user === null ? undefined : `user ${user}`,
    state,
    seconds === null ? undefined : `in a transaction for ${seconds} s`,
  ].filter((part) => part !== undefined && part !== null)
  return `process ${pid} holds${known.length === 0 ? '' : ` (${known.join(', ')})`}`
}

/** Whether it was only a lock: another try may get it. */
export function isLockFailure(error: unknown): boolean {
  // lock_not_available; deadlock_detected
  if (error instanceof pg.DatabaseError) return error.code === '55P03' || error.code === '40P01'
  return isAnotherMigration(error)
}

export function isAnotherMigration(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Another migration is already running')
}

/** Grows with every try, and is never the same for two processes that began together. */
export function retryDelayMs(tries: number, retryMsMin: number): number {
  return Math.min(limits.migrateRetryMsMax, retryMsMin * 2 ** (tries - 1)) * (0.5 + Math.random() / 2)
}
