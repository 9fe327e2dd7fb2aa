import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { limits } from '../../limits/limits.ts'

/** A lock that a migration waits for. */
interface BlockedLock {
  readonly mode: string
  /** The table or index; for a lock on neither, its type. */
  readonly target: string
  readonly pid: number
  /** The session that holds the lock. These are null if the role may not read them (pg_read_all_stats). */
  readonly user: string | null
  readonly application: string | null
  readonly state: string | null
  readonly seconds: number | null
}

/** Polls, on a second connection, which locks the migration waits for, and logs each holder once. */
export class LockMonitor {
  readonly #client: pg.Client
  readonly #log: (line: string) => void
  #lastLogged = ''
  /** The lock that the migration waited for last, to be used in a sentence. */
  last: string | undefined

  constructor(client: pg.Client, log: (line: string) => void) {
    this.#client = client
    this.#log = log
  }

  /** Polls the locks of the session `pid` until `work` has ended. */
  async during<T>(pid: number, work: Promise<T>): Promise<T> {
    const ended = new AbortController()
    const polling = this.#poll(pid, ended.signal)
    try {
      return await work
    } finally {
      ended.abort()
      await polling
    }
  }

  async #poll(pid: number, ended: AbortSignal): Promise<void> {
    try {
      while (!ended.aborted) {
        for (const lock of await blockedLocks(this.#client, pid)) this.#report(lock)
        await sleep(limits.migratePollMs, undefined, { signal: ended })
      }
    } catch {
      // The sleep was aborted, or the connection broke. The migration itself reports its error.
    }
  }

  #report(lock: BlockedLock): void {
    this.last = `${lock.mode} on ${lock.target}, which ${holderOf(lock)}`
    const id = `${lock.mode} ${lock.target} ${lock.pid}`
    if (id === this.#lastLogged) return
    this.#lastLogged = id
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

/** Whether the migration failed only because of a lock, so that it can be retried. */
export function isLockFailure(error: unknown): boolean {
  // lock_not_available; deadlock_detected
  if (error instanceof pg.DatabaseError) return error.code === '55P03' || error.code === '40P01'
  return isConcurrentMigration(error)
}

export function isConcurrentMigration(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Another migration is already running')
}
