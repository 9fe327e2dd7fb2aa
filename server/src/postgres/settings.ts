import type pg from 'pg'
import { limits } from '../limits/limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import { isInForce, pinnedDefaults, pinnedSettings } from './pinned-settings.ts'
import { connectMs } from './primary/database-url.ts'
import { databaseUnavailable } from './sqlstate.ts'

/** A connection pooler before PostgreSQL. `transaction`: it assigns a backend to each transaction, not to each connection. */
export type Pooler = 'none' | 'transaction'

export interface ServingIdentity {
  /** The role that every connection sets. Empty: the login's own role. */
  readonly role: string
  /** Default: `none`. */
  readonly pooler?: Pooler
}

export interface ServingDatabase extends ServingIdentity {
  readonly url: string
  readonly emit: EmitEvent
}

/** Timeouts and settings of one pool, in addition to those of all serving connections. */
export interface ServingOptions {
  readonly application_name?: string
  readonly statement_timeout?: number
  readonly lock_timeout?: number
  readonly settings?: Readonly<Record<string, string>>
}

export interface ServingConfig extends pg.ClientConfig {
  /** Settings that are read back after connecting, because a pooler may drop them. */
  readonly expected?: Readonly<Record<string, string>>
  /** `set local …` at the start of every transaction, because the next transaction has another backend. */
  readonly localSettings?: string
  /** The fields of long rows are Buffers. */
  readonly keepsLongRows?: boolean
}

export const connectionDefaults: pg.ClientConfig = {
  application_name: 'quartermaster',
  keepAlive: true,
  keepAliveInitialDelayMillis: limits.keepAliveMs,
}

const commandPins = { ...pinnedDefaults, ...pinnedSettings }
/** The settings of a connection for an operator's command, as startup options. */
export const commandOptions = startupOptions(commandPins)

/** The settings that each transaction must begin with, because a pooler has dropped or rejected the startup options. */
export async function droppedPins(client: pg.ClientBase): Promise<string | undefined> {
  const rows = await currentSettings(client, Object.keys(pinnedSettings))
  return rows.every(({ name, is }) => isInForce(name, pinnedSettings[name], is))
    ? undefined
    : setLocal(commandPins)
}

/** How long an operator's command waits for a connection. */
export function commandConnectMs(serverUrl: string): number {
  return connectMs(serverUrl, limits.commandConnectMsMax)
}

/**
 * For a connection that only checks its server. Without the settings of commands, a short `statement_timeout` of the database would
 * make a check fail, and then every connection that is opened soon after it. Without the role of requests, which cannot end a backend.
 */
export function checkConnection({ pooler = 'none' }: ServingIdentity): ServingConfig {
  const application_name = 'quartermaster check'
  return pooler === 'none' ? { application_name, options: commandOptions } : { application_name }
}

export function servingConnection(
  { role, pooler = 'none' }: ServingIdentity,
  { settings, application_name, ...timeouts }: ServingOptions = {},
): ServingConfig {
  const expected = servingParameters(role)
  const all = { ...pinnedDefaults, work_mem: '4MB', ...expected, ...settings }
  const named = application_name === undefined ? {} : { application_name }
  if (pooler === 'none')
    return { ...named, ...timeouts, expected, options: startupOptions({ ...all, ...keepAlives }) }
  return { ...named, localSettings: setLocal({ ...all, ...timeouts }) }
}

/**
 * For reads that may take long. With less memory, a bitmap of millions of matches keeps pages instead of records, and all records of those
 * pages are compared again. It is allocated only as needed: the bitmap of a table with ten million records takes 16 MB.
 */
export const longReads = { work_mem: `${limits.readMemoryBytes / 1024}kB` }

/**
 * PostgreSQL notices within 25 s that the network to a process has failed. Its default is two hours, in which the backend keeps its
 * connection slot, and its locks if a transaction was open.
 */
const keepAlives = {
  tcp_keepalives_idle: `${limits.backendKeepAliveSeconds}`,
  tcp_keepalives_interval: `${limits.backendKeepAliveProbeSeconds}`,
  tcp_keepalives_count: `${limits.backendKeepAliveProbes}`,
}

/**
 * For connections whose transactions lock the tally: PostgreSQL rolls back a transaction whose process no longer sends statements,
 * for example because its packets vanish. Until then, no other process can write to this account.
 */
export const abandonedTransactions = {
  idle_in_transaction_session_timeout: `${limits.idleTransactionMsMax}`,
}

/** Nothing is escaped: names and values are constants, or validated by the configuration. */
export function setLocal(settings: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = '${value}'`)
    .join('; ')
}

function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ')
}

/**
 * No sequential scans: every statement names one account, and a scan reads the records of all accounts. PostgreSQL would
 * choose one for an account that has most of the table. No parallel workers: with one processor for each statement, the
 * limit on an account's concurrent statements also limits its share of the processors. No JIT: to compile a filter of
 * a thousand comparisons takes 40 s, during which PostgreSQL can neither time out nor be cancelled; to run it takes 1 s.
 */
export function servingParameters(role: string): Readonly<Record<string, string>> {
  const settings = {
    ...pinnedSettings,
    enable_seqscan: 'off',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
  }
  return role === '' ? settings : { ...settings, role }
}

/** As startup options, which are in force before the first statement. */
export function servingSettings(role: string): string {
  return startupOptions(servingParameters(role))
}

/** Reads the settings in force. They may differ from the startup options if a pooler ignores those. */
export async function currentSettings(
  client: pg.ClientBase,
  names: readonly string[],
): Promise<{ readonly name: string; readonly is: string }[]> {
  const { rows } = await client.query<{ name: string; is: string }>(
    'select name, current_setting(name) as is from unnest($1::text[]) name',
    [names],
  )
  return rows
}

/**
 * A pooler may be configured to ignore startup options. Requests would then run with the login's own privileges and
 * without the limits on what a statement may cost. Therefore the connection is rejected.
 */
export async function verifySettings(
  client: pg.ClientBase,
  expected: Readonly<Record<string, string>>,
): Promise<void> {
  const names = Object.keys(expected)
  if (names.length === 0) return
  const rows = await currentSettings(client, names)
  const dropped = rows.filter(({ name, is }) => !isInForce(name, expected[name], is)).map(({ name }) => name)
  if (dropped.length === 0) return
  throw databaseUnavailable(
    undefined,
    `A connection pooler between the service and the database drops settings of the service (${dropped.join(', ')}). The operator must ` +
      'set QUARTERMASTER_DATABASE_POOLER=transaction, or set them for the login: quartermaster doctor shows how.',
  )
}
