import { DatabaseError } from 'pg'
import type { Config, LoadedConfig } from '../../config/config.ts'
import { connectToPrimary } from '../../postgres/client.ts'
import type { Connection } from '../../postgres/connection.ts'
import { appliedMigrations } from '../../postgres/migrations/migrate.ts'
import { databaseFault } from '../database/database-fault.ts'
import { findOwnerUrl } from '../database/owner.ts'
import { processesOf } from '../process-count.ts'
import { checkClock } from './checks/clock.ts'
import { checkConfiguration } from './checks/configuration.ts'
import { checkDatabase } from './checks/database.ts'
import { checkDistribution } from './checks/distribution.ts'
import { checkExtensions } from './checks/extensions.ts'
import { checkIndexes } from './checks/indexes.ts'
import { checkMigrations, pendingMigrations } from './checks/migrations.ts'
import { checkOwnership } from './checks/ownership.ts'
import { checkPrivileges, tableNames } from './checks/privileges.ts'
import { checkRedis } from './checks/redis.ts'
import { checkReplicas } from './checks/replicas.ts'
import { checkReplication } from './checks/replication.ts'
import { checkServing } from './checks/serving.ts'
import { checkSettings } from './checks/settings.ts'
import { checkTallies, type TallyOptions } from './checks/tallies.ts'
import { checkWebhooks } from './checks/webhooks.ts'
import { connectedMessage, faultFinding } from './connection-fault.ts'
import { type Finding, type Findings, ok, problem, unchecked } from './finding.ts'

export interface CheckOptions extends TallyOptions {
  /** Processes that serve requests. Default: QUARTERMASTER_PROCESSES. */
  readonly processes?: number
}

/** Runs the checks in order. If the result of one rules out the following ones, these are reported as not checked. */
export async function* runChecks(loaded: LoadedConfig, options: CheckOptions): Findings {
  const { config } = loaded
  const configuration = checkConfiguration(loaded)
  yield* configuration
  const owner = findOwnerUrl(config)
  if (owner === undefined || configuration.some(isProblem)) {
    yield unchecked('connection', 'The database was not checked.')
    return
  }
  yield* await checkRedis(config)
  let client: Connection
  try {
    client = await connectToPrimary(owner.url)
  } catch (error) {
    yield faultFinding(error, owner)
    yield unchecked('connection', 'The remaining checks were not run.')
    return
  }
  try {
    yield ok('connection', connectedMessage(owner))
    yield* checkOpenDatabase(client, config, options)
  } catch (error) {
    // Other errors, such as an unknown account, already have a message for the operator.
    if (!(error instanceof DatabaseError) && databaseFault(error, owner.url, owner.variable) === undefined)
      throw error
    yield faultFinding(error, owner)
    yield unchecked('connection', 'The remaining checks were not run.')
  } finally {
    await client.end().catch(() => {})
  }
}

async function* checkOpenDatabase(client: Connection, config: Config, options: CheckOptions): Findings {
  yield* await checkDatabase(client, config, options.processes ?? processesOf(config))
  yield* await checkClock(client)
  const applied = await appliedMigrations(client)
  yield* await checkExtensions(client, applied.length > 0)
  yield* checkMigrations(applied)
  // A pending migration needs it, too.
  yield* await checkOwnership(client, tableNames)
  if (pendingMigrations(applied).length > 0) {
    yield unchecked(
      'migrations',
      'Indexes, privileges and tallies were not checked: apply the migrations first.',
    )
    return
  }
  yield* await checkIndexes(client)
  yield* await checkPrivileges(client, config)
  yield* await checkWebhooks(client, config)
  yield* await checkDistribution(client, config)
  yield* await checkServing(config)
  yield* await checkSettings(config)
  yield* await checkReplication(client)
  yield* await checkReplicas(client, config)
  yield* await checkDefaultAccount(client, config)
  yield* checkTallies(client, options)
}

async function checkDefaultAccount(
  client: Connection,
  { QUARTERMASTER_DEFAULT_ACCOUNT: name }: Config,
): Promise<Finding[]> {
  if (name === undefined) return []
  const { rows } = await client.query('select from account where name = $1', [name])
  if (rows.length > 0) return [ok('configuration', `The default account ${name} exists.`)]
  const repair = `quartermaster account create ${name}`
  return [
    problem(
      'configuration',
      `QUARTERMASTER_DEFAULT_ACCOUNT is ${name}, but there is no such account.`,
      repair,
    ),
  ]
}

function isProblem({ status }: Finding): boolean {
  return status === 'problem'
}
