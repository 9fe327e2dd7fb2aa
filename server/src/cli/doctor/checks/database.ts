import type pg from 'pg'
import type { Config } from '../../../config.ts'
import { limits } from '../../../limits.ts'
import { foldsCase } from '../../../postgres/migrate.ts'
import { type Finding, ok, problem } from '../finding.ts'

export interface DatabaseProperties {
  readonly name: string
  readonly version: number
  readonly versionText: string
  readonly encoding: string
  readonly ctype: string
  readonly foldsCase: boolean
  readonly standby: boolean
  readonly connections: number
}

/** A serving process has one pool for long reads and one for writes, and these connections outside the pools. */
const poolsPerProcess = 2
const unpooledConnections = limits.pipelinedConnections + limits.exportsInFlightMax

export async function checkDatabase(client: pg.Client, config: Config): Promise<Finding[]> {
  const { rows } = await client.query<Omit<DatabaseProperties, 'foldsCase'>>(
    `select current_database() as name, current_setting('server_version_num')::int as version,
            current_setting('server_version') as "versionText", getdatabaseencoding() as encoding,
            (select datctype from pg_database where datname = current_database()) as ctype,
            pg_is_in_recovery() as standby,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              as connections`,
  )
  const [properties] = rows
  if (properties === undefined) return []
  const folds = properties.encoding === 'UTF8' && (await foldsCase(client))
  return databaseFindings({ ...properties, foldsCase: folds }, config.QUARTERMASTER_DATABASE_POOL_MAX)
}

export function databaseFindings(properties: DatabaseProperties, poolMax: number): Finding[] {
  return [version(properties), caseFolding(properties), role(properties), connections(properties, poolMax)]
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

function caseFolding({ name, encoding, ctype, foldsCase: folds }: DatabaseProperties): Finding {
  if (encoding === 'UTF8' && folds) {
    return ok('database', `The database ${name} folds the case of all letters (${encoding}, ${ctype}).`)
  }
  return problem(
    'database',
    `The database ${name} does not fold the case of all letters (${encoding}, ${ctype}): "contains" would miss É for é.`,
    `create database ${name}_utf8 template template0 encoding 'UTF8' locale 'C.UTF-8'; then move the data there with ` +
      'pg_dump and pg_restore, and change DATABASE_URL.',
  )
}

function role({ standby }: DatabaseProperties): Finding {
  return standby
    ? problem('database', 'The server is a standby, which accepts no writes.', 'Set the URL to the primary.')
    : ok('database', 'The server accepts writes.')
}

function connections({ connections: open }: DatabaseProperties, pool: number): Finding {
  const most = pool * poolsPerProcess + unpooledConnections
  return most <= open
    ? ok(
        'database',
        `A serving process opens at most ${most} of the ${open} connections that PostgreSQL allows.`,
      )
    : problem(
        'database',
        `A serving process may open ${most} connections; PostgreSQL allows ${open}.`,
        `Set QUARTERMASTER_DATABASE_POOL_MAX to ${Math.max(1, Math.floor((open - unpooledConnections) / poolsPerProcess))} or less, or raise max_connections.`,
      )
}
