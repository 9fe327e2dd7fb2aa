import type pg from 'pg'
import type { Config } from '../../../config.ts'
import { limits } from '../../../limits.ts'
import { foldsCase } from '../../../postgres/migrate.ts'
import { type Finding, ok, problem } from '../finding.ts'

export interface DatabaseFacts {
  readonly name: string
  readonly version: number
  readonly shown: string
  readonly encoding: string
  readonly ctype: string
  readonly folds: boolean
  readonly standby: boolean
  readonly connections: number
}

/** Each process that serves has a pool for reads that may take long and one for writes; besides, so many connections. */
const poolsPerProcess = 2
const besidesPools = limits.pipelinedConnections + limits.exportsInFlightMax

export async function checkDatabase(client: pg.Client, config: Config): Promise<Finding[]> {
  const { rows } = await client.query<Omit<DatabaseFacts, 'folds'>>(
    `select current_database() as name, current_setting('server_version_num')::int as version,
            current_setting('server_version') as shown, getdatabaseencoding() as encoding,
            (select datctype from pg_database where datname = current_database()) as ctype,
            pg_is_in_recovery() as standby,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
              as connections`,
  )
  const [context] = rows
  if (context === undefined) return []
  const folds = context.encoding === 'UTF8' && (await foldsCase(client))
  return judgeDatabase({ ...context, folds }, config.DATABASE_POOL_MAX)
}

export function judgeDatabase(context: DatabaseFacts, poolMax: number): Finding[] {
  return [version(context), caseFolding(context), role(context), connections(context, poolMax)]
}

function version({ version: number, shown }: DatabaseFacts): Finding {
  return number >= 150_000
    ? ok('database', `PostgreSQL is ${shown}.`)
    : problem(
        'database',
        `PostgreSQL is ${shown}; 15 or later is needed.`,
        'Upgrade with pg_upgrade, or use another server.',
      )
}

function caseFolding({ name, encoding, ctype, folds }: DatabaseFacts): Finding {
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

function role({ standby }: DatabaseFacts): Finding {
  return standby
    ? problem('database', 'It is a standby: nothing can be written there.', 'Set the URL to the primary.')
    : ok('database', 'It takes writes.')
}

function connections({ connections: open }: DatabaseFacts, pool: number): Finding {
  const most = pool * poolsPerProcess + besidesPools
  return most <= open
    ? ok('database', `A process that serves makes at most ${most} of its ${open} connections.`)
    : problem(
        'database',
        `A process that serves may make ${most} connections; PostgreSQL has ${open}.`,
        `Set DATABASE_POOL_MAX to ${Math.max(1, Math.floor((open - besidesPools) / poolsPerProcess))} or less, or raise max_connections.`,
      )
}
