import type pg from 'pg'
import { limits } from '../limits.ts'
import type { Tell } from '../telemetry/events.ts'

/** The database as a serving process connects to it. */
export interface ServingDatabase {
  readonly url: string
  /** Taken on by every connection; empty to keep the login's own. */
  readonly role: string
  readonly tell: Tell
}

/** What every connection has, to whichever server and for whatever it is. */
export const connectionDefaults: pg.ClientConfig = {
  application_name: 'quartermaster',
  connectionTimeoutMillis: limits.connectMsMax,
  keepAlive: true,
  keepAliveInitialDelayMillis: limits.keepAliveMs,
}

export function servingConnection(role: string, more: pg.ClientConfig = {}): pg.ClientConfig {
  return {
    ...more,
    options: [servingSettings(role), more.options].filter((part) => part !== undefined).join(' '),
  }
}

/**
 * No sequential scans: every statement names one account, and a scan reads the records of all of them. PostgreSQL
 * would choose it for an account that is most of the table. No parallel workers: a statement is one processor's work,
 * so that the bound on an account's statements is a bound on what it takes from others. No JIT: compiling a filter of a
 * thousand comparisons takes 40 s, in which PostgreSQL can neither time out nor be cancelled; running it takes 1 s.
 */
export function servingParameters(role: string): Readonly<Record<string, string>> {
  const settings = { enable_seqscan: 'off', max_parallel_workers_per_gather: '0', jit: 'off' }
  return role === '' ? settings : { ...settings, role }
}

/** As startup settings: in force before the first statement. */
export function servingSettings(role: string): string {
  return Object.entries(servingParameters(role))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

const destroyed = new WeakSet<pg.ClientBase>()

/** Closes the socket without a word: for a server that does not answer, or should not be asked any more. */
export function destroyConnection(client: pg.ClientBase): void {
  destroyed.add(client)
  client.connection.stream.destroy()
}

export function isDestroyed(client: pg.ClientBase): boolean {
  return destroyed.has(client)
}
