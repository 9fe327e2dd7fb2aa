import type pg from 'pg'
import { DatabaseError } from 'pg'
import type { Config } from '../../config.ts'
import { connectToPrimary } from '../../postgres/client.ts'
import { appliedMigrations } from '../../postgres/migrate.ts'
import { databaseFault } from '../database/database-fault.ts'
import { findOwnerUrl } from '../database/owner.ts'
import { checkConfiguration } from './checks/configuration.ts'
import { checkDatabase } from './checks/database.ts'
import { checkExtensions } from './checks/extensions.ts'
import { checkIndexes } from './checks/indexes.ts'
import { checkMigrations, pendingMigrations } from './checks/migrations.ts'
import { checkRights } from './checks/privileges.ts'
import { checkRedis } from './checks/redis.ts'
import { checkServing } from './checks/serving.ts'
import { checkTallies, type TallyOptions } from './checks/tallies.ts'
import { connected, faultFinding } from './connection-fault.ts'
import { type Finding, type Findings, ok, problem, unchecked } from './finding.ts'

/** Every check in order; where one has nothing to stand on, what comes after it is said not to be checked. */
export async function* examine(config: Config, options: TallyOptions): Findings {
  const configuration = checkConfiguration(config)
  yield* configuration
  const owner = findOwnerUrl(config)
  if (owner === undefined || configuration.some(isWrong)) {
    yield unchecked('connection', 'Not checked for that: the database.')
    return
  }
  yield* await checkRedis(config)
  let client: pg.Client
  try {
    client = await connectToPrimary(owner.url)
  } catch (error) {
    yield faultFinding(error, owner)
    yield unchecked('connection', 'Not checked for that: what comes after it.')
    return
  }
  try {
    yield ok('connection', connected(owner))
    yield* examineDatabase(client, config, options)
  } catch (error) {
    // What is not about the database, such as an account that is not there, speaks for itself.
    if (!(error instanceof DatabaseError) && databaseFault(error, owner.url, owner.variable) === undefined)
      throw error
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

async function checkDefaultAccount(client: pg.Client, { DEFAULT_ACCOUNT: name }: Config): Promise<Finding[]> {
  if (name === undefined) return []
  const { rows } = await client.query('select from account where name = $1', [name])
  if (rows.length > 0) return [ok('configuration', `The default account ${name} is there.`)]
  const repair = `quartermaster account create ${name}`
  return [problem('configuration', `DEFAULT_ACCOUNT is ${name}, and there is no such account.`, repair)]
}

function isWrong({ status }: Finding): boolean {
  return status === 'problem'
}
