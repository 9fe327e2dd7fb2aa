import pg from 'pg'
import type { Config } from '../../../config/config.ts'
import { connectToPrimary } from '../../../postgres/client.ts'
import { isInForce, pinnedDefaults, pinnedSettings } from '../../../postgres/pinned-settings.ts'
import { targetOf } from '../../database/database-fault.ts'
import { type Finding, ok, problem } from '../finding.ts'

/** A setting as a session of the login gets it, before the service sets its own. */
export interface SessionSetting {
  readonly name: string
  readonly value: string
  /** As in `pg_settings`: database, user, "database user", "configuration file" and others. */
  readonly source: string
}

export interface SettingsOf {
  readonly database: string
  readonly user: string
}

/**
 * What the service does not set itself, because only a superuser may, because an administrator sets it on purpose, or because results
 * stay the same.
 */
const unpinned: Readonly<Record<string, { readonly wanted: string; readonly effect: string }>> = {
  default_transaction_read_only: { wanted: 'off', effect: 'every write fails' },
  session_replication_role: { wanted: 'origin', effect: 'foreign keys are not checked' },
  transaction_timeout: { wanted: '0', effect: 'PostgreSQL closes connections with long imports and exports' },
  ...Object.fromEntries(
    ['indexscan', 'indexonlyscan', 'bitmapscan', 'nestloop', 'sort', 'hashagg', 'hashjoin', 'mergejoin'].map(
      (plan) => [`enable_${plan}`, { wanted: 'on', effect: 'lists may take far longer' }],
    ),
  ),
}

/** A zone and the order of a date differ on many servers, and mean nothing here. */
const ordinary = new Set(['TimeZone', 'DateStyle'])

/** Reads the settings that a server, database or role has, on a connection that sets none. */
export async function checkSettings(config: Config): Promise<Finding[]> {
  const url = config.DATABASE_URL
  if (url === undefined) return []
  const client = await connectToPrimary(url, {})
  try {
    const { rows } = await client.query<SessionSetting>(
      'select name, setting as value, source from pg_settings where name = any($1::text[]) order by name',
      [[...Object.keys(pinnedSettings), ...Object.keys(pinnedDefaults), ...Object.keys(unpinned)]],
    )
    const names = await client.query<{ database: string }>('select current_database() as database')
    const { user } = targetOf(url)
    return settingsFindings(rows, { database: names.rows[0]?.database ?? '', user })
  } finally {
    await client.end().catch(() => {})
  }
}

export function settingsFindings(settings: readonly SessionSetting[], of: SettingsOf): Finding[] {
  const faults = settings.flatMap((setting) => {
    const { name, value } = setting
    const expected = unpinned[name]
    if (expected === undefined || expected.wanted === value) return []
    const message = `${name} is ${value} (${placeOf(setting, of)}): ${expected.effect}.`
    return [problem('settings', message, resetOf(setting, of))]
  })
  const wanted: Readonly<Record<string, string>> = { ...pinnedDefaults, ...pinnedSettings }
  const others = settings.filter(
    ({ name, value }) => name in wanted && !ordinary.has(name) && !isInForce(name, wanted[name], value),
  )
  const list = others.map((setting) => `${setting.name} = ${setting.value} (${placeOf(setting, of)})`)
  return [
    ...faults,
    ok(
      'settings',
      list.length === 0
        ? 'No setting of the server, the database or the login changes results.'
        : `The service sets these itself on every connection; other programs get them: ${list.join(', ')}.`,
    ),
  ]
}

function placeOf({ source }: SessionSetting, { database, user }: SettingsOf): string {
  if (source === 'database') return `database ${database}`
  if (source === 'user') return `role ${user}`
  if (source === 'database user') return `role ${user} in database ${database}`
  return source
}

function resetOf({ name, source }: SessionSetting, of: SettingsOf): string {
  const [database, user] = [pg.escapeIdentifier(of.database), pg.escapeIdentifier(of.user)]
  if (source === 'database') return `alter database ${database} reset ${name};`
  if (source === 'user') return `alter role ${user} reset ${name};`
  if (source === 'database user') return `alter role ${user} in database ${database} reset ${name};`
  return `alter system reset ${name}; select pg_reload_conf(); or remove it from postgresql.conf and the command line.`
}
