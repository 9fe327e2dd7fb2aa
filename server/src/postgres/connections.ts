import type pg from 'pg'
import { limits } from '../limits.ts'
import type { EmitEvent } from '../observability/events.ts'

/** What is between a serving process and PostgreSQL: with `transaction`, a pooler that gives every transaction another backend. */
export type Pooler = 'none' | 'transaction'

/** How serving connections present themselves. */
export interface ServingIdentity {
  /** Taken on by every connection; empty to keep the login's own. */
  readonly role: string
  /** `none` unless told. */
  readonly pooler?: Pooler
}

/** The database as a serving process connects to it. */
export interface ServingDatabase extends ServingIdentity {
  readonly url: string
  readonly emit: EmitEvent
}

/** Timeouts and settings of one kind of connection, beside those that all have. */
export interface ServingOptions {
  readonly application_name?: string
  readonly statement_timeout?: number
  readonly lock_timeout?: number
  readonly settings?: Readonly<Record<string, string>>
}

export interface ServingConfig extends pg.ClientConfig {
  /** What the server has to confirm, because a pooler may drop it. */
  readonly expected?: Readonly<Record<string, string>>
  /** `set local …`: what every transaction begins with, because the next one has another backend. */
  readonly localSettings?: string
}

/** What every connection has, to whichever server and for whatever it is. */
export const connectionDefaults: pg.ClientConfig = {
  application_name: 'quartermaster',
  connectionTimeoutMillis: limits.connectMsMax,
  keepAlive: true,
  keepAliveInitialDelayMillis: limits.keepAliveMs,
}

export function servingConnection(
  { role, pooler = 'none' }: ServingIdentity,
  { settings, application_name, ...timeouts }: ServingOptions = {},
): ServingConfig {
  const expected = servingParameters(role)
  const all = { ...expected, ...settings }
  const named = application_name === undefined ? {} : { application_name }
  if (pooler === 'none') return { ...named, ...timeouts, expected, options: startupOptions(all) }
  return { ...named, localSettings: setLocal({ ...all, ...timeouts }) }
}

const localSettings = new WeakMap<pg.ClientBase, string>()

/** From now on every transaction of this connection has to begin with these. */
export function setLocalSettings(client: pg.ClientBase, settings: string): void {
  localSettings.set(client, settings)
}

/** What every transaction of this connection begins with, where a pooler gives each another backend. */
export function localSettingsOf(client: pg.ClientBase): string | undefined {
  return localSettings.get(client)
}

/** Begins a transaction, with the settings that it would lack otherwise. */
export function beginOn(client: pg.ClientBase, mode = ''): string {
  return [`begin${mode}`, localSettings.get(client)].filter((part) => part !== undefined).join('; ')
}

/** All of it is text of our own, or checked by the configuration. */
function setLocal(settings: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = '${value}'`)
    .join('; ')
}

function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
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
  return startupOptions(servingParameters(role))
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

/** The values that settings have on a connection, whatever it asked for: a pooler in between may ignore that. */
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
