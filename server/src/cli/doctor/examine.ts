import pg from 'pg'
import type { Config } from '../../config.ts'
import { limits } from '../../limits.ts'
import { databaseFault, placeOf } from '../database-fault.ts'
import { findOwnerUrl, type OwnerUrl } from '../owner.ts'
import { checkConfiguration } from './configuration.ts'
import { checkDatabase } from './database.ts'
import { checkExtensions } from './extensions.ts'
import { type Finding, type Findings, right, unchecked, wrong } from './finding.ts'
import { checkIndexes } from './indexes.ts'
import { appliedMigrations, checkMigrations, pendingMigrations } from './migrations.ts'
import { checkRights } from './rights.ts'
import { checkTallies, type TallyOptions } from './tallies.ts'

/** Every check in order; where one has nothing to stand on, what comes after it is said not to be checked. */
export async function* examine(config: Config, options: TallyOptions): Findings {
  const configuration = checkConfiguration(config)
  yield* configuration
  const owner = findOwnerUrl(config)
  if (owner === undefined || configuration.some(isWrong)) {
    yield unchecked('connection', 'Not checked for that: the database.')
    return
  }
  const client = connectionTo(owner.url)
  try {
    await client.connect()
    yield right('connection', connected(owner))
    yield* examineDatabase(client, config, options)
  } catch (error) {
    yield faultFinding(error, owner)
    yield unchecked('connection', 'Not checked for that: what comes after it.')
  } finally {
    await client.end().catch(() => {})
  }
}

async function* examineDatabase(client: pg.Client, config: Config, options: TallyOptions): Findings {
  yield* await checkDatabase(client, config)
  const applied = await appliedMigrations(client)
  yield* await checkExtensions(client, applied.length > 0)
  yield* checkMigrations(applied)
  if (pendingMigrations(applied).length > 0) {
    yield unchecked('migrations', 'Not checked before that: indexes, rights and tallies.')
    return
  }
  yield* await checkIndexes(client)
  yield* await checkRights(client, config)
  yield* await checkServing(config)
  yield* await checkDefaultAccount(client, config)
  yield* checkTallies(client, options)
}

/** The connection that requests are served by, made as they make it. */
async function checkServing(config: Config): Promise<Finding[]> {
  if (config.DATABASE_URL === undefined) {
    return [
      unchecked(
        'connection',
        'DATABASE_URL is not set: the connection that requests are served by is not checked.',
      ),
    ]
  }
  const serving: OwnerUrl = { url: config.DATABASE_URL, variable: 'DATABASE_URL' }
  const client = connectionTo(serving.url, config.DATABASE_ROLE)
  try {
    await client.connect()
    return [right('connection', `Requests can be served: ${connected(serving)}`)]
  } catch (error) {
    // A role that does not exist was told of with the rights.
    if (error instanceof pg.DatabaseError && error.code === '22023') return []
    return [roleFault(error, serving, config.DATABASE_ROLE) ?? faultFinding(error, serving)]
  } finally {
    await client.end().catch(() => {})
  }
}

/** PostgreSQL refuses a role that the login is no member of while it connects. */
function roleFault(error: unknown, { url }: OwnerUrl, role: string): Finding | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== '42501') return undefined
  const { user } = placeOf(url)
  const mend = `grant ${pg.escapeIdentifier(role)} to ${pg.escapeIdentifier(user)};`
  return wrong('rights', `${user} may not take on the role ${role}: ${error.message}.`, mend)
}

async function checkDefaultAccount(client: pg.Client, { DEFAULT_ACCOUNT: name }: Config): Promise<Finding[]> {
  if (name === undefined) return []
  const { rows } = await client.query('select from account where name = $1', [name])
  if (rows.length > 0) return [right('configuration', `The default account ${name} is there.`)]
  const mend = `quartermaster account create ${name}`
  return [wrong('configuration', `DEFAULT_ACCOUNT is ${name}, and there is no such account.`, mend)]
}

function connectionTo(url: string, role = ''): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'quartermaster',
    connectionTimeoutMillis: limits.connectMsMax,
    ...(role === '' ? {} : { options: `-c role=${role}` }),
  })
  // Told again by the query that was under way; without a listener it would end the process.
  client.on('error', () => {})
  return client
}

function connected({ url, variable }: OwnerUrl): string {
  const { host, user, database } = placeOf(url)
  return `${variable} connects to ${database} at ${host} as ${user}.`
}

function faultFinding(error: unknown, { url, variable }: OwnerUrl): Finding {
  const fault = databaseFault(error, url, variable)
  if (fault !== undefined) return wrong('connection', fault.fact, fault.mend)
  if (!(error instanceof pg.DatabaseError)) throw error
  return wrong('connection', `PostgreSQL refused: ${error.message}.`, 'Look at the log of PostgreSQL.')
}

function isWrong({ status }: Finding): boolean {
  return status === 'wrong'
}
