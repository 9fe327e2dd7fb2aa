import type pg from 'pg'
import type { Config } from '../../../config/config.ts'
import { defaultLimits } from '../../../limits/passed-limits.ts'
import { foldingDatabase, foldingFault } from '../../../postgres/case-folding.ts'
import { type Finding, ok, problem } from '../finding.ts'

export interface DatabaseProperties {
  readonly name: string
  readonly version: number
  readonly versionText: string
  readonly encoding: string
  readonly ctype: string
  /** Why "contains" would not ignore the case of every letter. */
  readonly foldingFault: string | undefined
  readonly standby: boolean
  readonly connections: number
}

/** A serving process has one pool for long reads and one for writes, and these connections outside the pools. */
const poolsPerProcess = 2
const primaryCheckConnections = 1
const unpooledConnections =
  defaultLimits.pipelinedConnections +
  defaultLimits.exportsInFlightMax +
  defaultLimits.batchConnectionsMax +
  primaryCheckConnections

/** The connections that one process opens at most. */
export const connectionsOfProcess = (poolMax: number) => poolMax * poolsPerProcess + unpooledConnections

/** `processes`: the workers of `serve --processes`; undefined for a process without workers. */
export async function checkDatabase(
  client: pg.Client,
  config: Config,
  processes: number | undefined,
): Promise<Finding[]> {
  const { rows } = await client.query<Omit<DatabaseProperties, 'foldingFault'>>(
    `select current_database() as name, current_setting('server_version_num')::int as version,
            current_setting('server_version') as "versionText", getdatabaseencoding() as encoding,
            (select datctype from pg_database where datname = current_database()) as ctype,
            pg_is_in_recovery() as standby,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              as connections`,
  )
  const [properties] = rows
  if (properties === undefined) return []
  const fault =
    properties.encoding === 'UTF8' ? await foldingFault(client) : 'does not have the encoding UTF8'
  const pool = { max: config.QUARTERMASTER_DATABASE_POOL_MAX, processes }
  return databaseFindings({ ...properties, foldingFault: fault }, pool)
}

export interface PoolSettings {
  readonly max: number
  readonly processes: number | undefined
}

export function databaseFindings(properties: DatabaseProperties, pool: PoolSettings): Finding[] {
  return [version(properties), caseFolding(properties), role(properties), connections(properties, pool)]
}

function version({ version: number, versionText }: DatabaseProperties): Finding {
  return number >= 150_000
    ? ok('database', `PostgreSQL is ${versionText}.`)
    : problem(
        'database',
        `PostgreSQL is ${versionText}; 15 or later is required.`,
        'Upgrade with pg_upgrade, or use another server.',
      )
}

function caseFolding({ name, encoding, ctype, foldingFault: fault }: DatabaseProperties): Finding {
  if (fault === undefined) {
    return ok('database', `The database ${name} folds the case of all letters (${encoding}, ${ctype}).`)
  }
  return problem(
    'database',
    `The database ${name} ${fault} (${encoding}, ${ctype}): filters would miss records.`,
    `${foldingDatabase(`${name}_utf8`)}; then move the data there with ` +
      'pg_dump and pg_restore, and change DATABASE_URL.',
  )
}

function role({ standby }: DatabaseProperties): Finding {
  return standby
    ? problem('database', 'The server is a standby, which accepts no writes.', 'Set the URL to the primary.')
    : ok('database', 'The server accepts writes.')
}

function connections({ connections: open }: DatabaseProperties, { max, processes }: PoolSettings): Finding {
  // During a rolling restart there is one more.
  const count = processes === undefined ? 1 : processes + 1
  const each = connectionsOfProcess(max)
  const who =
    processes === undefined
      ? 'One serving process'
      : `${processes} serving ${processes === 1 ? 'process' : 'processes'}, and one more during a rolling restart,`
  if (each * count <= open) {
    return ok(
      'database',
      `${who} can open ${each * count} of the ${open} connections that PostgreSQL allows.`,
    )
  }
  const poolMax = Math.floor((open / count - unpooledConnections) / poolsPerProcess)
  const smaller =
    poolMax >= 1 ? `Set QUARTERMASTER_DATABASE_POOL_MAX to ${poolMax} or less, or raise` : 'Raise'
  return problem(
    'database',
    `${who} can open ${each * count} connections; PostgreSQL allows ${open}.`,
    `${smaller} max_connections.`,
  )
}
