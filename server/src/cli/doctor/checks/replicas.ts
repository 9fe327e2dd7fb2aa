import type pg from 'pg'
import type { Config } from '../../../config/config.ts'
import { defaultLimits } from '../../../limits/passed-limits.ts'
import { Connection } from '../../../postgres/connection.ts'
import { replicaUrls } from '../../../postgres/primary/database-url.ts'
import { commandConnectMs, servingConnection } from '../../../postgres/settings.ts'
import { targetOf } from '../../database/database-fault.ts'
import type { OwnerUrl } from '../../database/owner.ts'
import { faultFinding } from '../connection-fault.ts'
import { type Finding, ok, problem } from '../finding.ts'
import { roleFault } from './serving.ts'

interface ReplicaProperties {
  readonly recovering: boolean
  readonly system: string
  readonly feedback: boolean
  readonly reads: boolean
  readonly connections: number
}

const variable = 'DATABASE_REPLICA_URLS'

/** `client`: connected to the primary. */
export async function checkReplicas(client: pg.Client, config: Config): Promise<Finding[]> {
  if (config.DATABASE_REPLICA_URLS === undefined) return []
  const { rows } = await client.query<{ system: string }>(
    'select (pg_control_system()).system_identifier::text as system',
  )
  const findings: Finding[] = []
  for (const url of replicaUrls(config.DATABASE_REPLICA_URLS))
    findings.push(await checkReplica(url, config, rows[0]?.system))
  return findings
}

async function checkReplica(url: string, config: Config, system: string | undefined): Promise<Finding> {
  const { QUARTERMASTER_DATABASE_ROLE: role, QUARTERMASTER_DATABASE_POOLER: pooler } = config
  const connection = new Connection({ ...servingConnection({ role, pooler }), connectionString: url })
  try {
    const { rows } = await connection.open(commandConnectMs(url), async () => {
      await connection.query(connection.beginText())
      return await connection.query<ReplicaProperties>(
        `select pg_is_in_recovery() as recovering, (pg_control_system()).system_identifier::text as system,
         current_setting('hot_standby_feedback')::boolean as feedback, has_table_privilege('tally', 'select') as reads,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections`,
      )
    })
    const [properties] = rows
    const { host } = targetOf(url)
    if (properties === undefined)
      return problem('replicas', `${host} returned no state.`, `Check ${variable}.`)
    return replicaFinding(host, properties, system, config.QUARTERMASTER_DATABASE_POOL_MAX)
  } catch (error) {
    const replica: OwnerUrl = { url, variable }
    return { ...(roleFault(error, replica, role) ?? faultFinding(error, replica)), check: 'replicas' }
  } finally {
    await connection.end().catch(() => {})
  }
}

export function replicaFinding(
  host: string,
  { recovering, system, feedback, reads, connections }: ReplicaProperties,
  primarySystem: string | undefined,
  poolMax: number,
): Finding {
  if (system !== primarySystem)
    return problem(
      'replicas',
      `${host} is not a replica of the primary: its system identifier is another one. It is not used.`,
      `Remove it from ${variable}, or create it with pg_basebackup from the primary.`,
    )
  if (!recovering)
    return ok('replicas', `${host} is the primary at present. It is used as a replica when it is a standby.`)
  if (!reads)
    return problem(
      'replicas',
      `The login of ${variable} cannot read the table tally at ${host}.`,
      'Use the same login and database as in DATABASE_URL.',
    )
  const each = poolMax + defaultLimits.exportsInFlightMax + 1
  if (each > connections)
    return problem(
      'replicas',
      `One serving process can open ${each} connections to ${host}, which allows ${connections}.`,
      `Raise max_connections at ${host}, or lower QUARTERMASTER_DATABASE_POOL_MAX.`,
    )
  return ok(
    'replicas',
    feedback
      ? `${host} is a replica of the primary: long reads and exports can run there.`
      : `${host} is a replica of the primary: long reads can run there. Exports run on the primary, because VACUUM could cancel them ` +
          'there; to change that, run on the replica: alter system set hot_standby_feedback = on; select pg_reload_conf();',
  )
}
