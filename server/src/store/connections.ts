import pg from 'pg'
import { limits } from '../limits.ts'
import type { Tell } from '../telemetry/events.ts'

/** The database as a serving process connects to it. */
export interface ServingDatabase {
  readonly url: string
  /** Taken on by every connection; empty to keep the login's own. */
  readonly role: string
  readonly tell: Tell
}

export function servingConnection(
  { url, role }: ServingDatabase,
  more: pg.ClientConfig = {},
): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'quartermaster',
    connectionTimeoutMillis: limits.connectMsMax,
    keepAlive: true,
    ...more,
    options: [servingSettings(role), more.options].filter((part) => part !== undefined).join(' '),
  }
}

export function servingPool(database: ServingDatabase, max: number, more: pg.ClientConfig): pg.Pool {
  const made = new pg.Pool({ ...servingConnection(database, more), max })
  made.on('error', (error) => database.tell({ kind: 'connection-broken', error }))
  // One that breaks while in use fails its statement. It says so a second time, and without a listener that would end
  // the process.
  made.on('connect', (client) => client.on('error', () => {}))
  return made
}

/**
 * No sequential scans: every statement names one account, and a scan reads the records of all of them. PostgreSQL
 * would choose it for an account that is most of the table. No parallel workers: a statement is one processor's work,
 * so that the bound on an account's statements is a bound on what it takes from others.
 */
export function servingSettings(role: string): string {
  const settings = '-c enable_seqscan=off -c max_parallel_workers_per_gather=0'
  return role === '' ? settings : `${settings} -c role=${role}`
}
