import pg from 'pg'
import { type Config, writeRoleOf } from '../../../config/config.ts'
import { connectToPrimary } from '../../../postgres/client.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { isInForce } from '../../../postgres/pinned-settings.ts'
import { currentSettings, servingConnection, servingParameters } from '../../../postgres/settings.ts'
import { targetOf } from '../../database/database-fault.ts'
import type { OwnerUrl } from '../../database/owner.ts'
import { connectedMessage, faultFinding } from '../connection-fault.ts'
import { type Finding, ok, problem, unchecked } from '../finding.ts'

/** Opens connections with the settings of the service, and checks that they take effect. */
export async function checkServing(config: Config): Promise<Finding[]> {
  if (config.DATABASE_URL === undefined) {
    return [unchecked('connection', 'DATABASE_URL is not set: serving connections were not checked.')]
  }
  const serving: OwnerUrl = { url: config.DATABASE_URL, variable: 'DATABASE_URL' }
  try {
    const faults = await servingFaults(serving.url, config)
    faults.push(...(await writingFaults(serving, config)))
    return [...faults, ok('connection', `Requests can be served: ${connectedMessage(serving)}`)]
  } catch (error) {
    // checkPrivileges has reported that the role does not exist.
    if (error instanceof pg.DatabaseError && error.code === '22023') return []
    return [roleFault(error, serving, config.QUARTERMASTER_DATABASE_ROLE) ?? faultFinding(error, serving)]
  }
}

async function servingFaults(url: string, config: Config): Promise<Finding[]> {
  const identity = { role: config.QUARTERMASTER_DATABASE_ROLE, pooler: config.QUARTERMASTER_DATABASE_POOLER }
  const settings = servingConnection(identity)
  const clients: Connection[] = []
  try {
    for (let i = 0; i < 2; i++) clients.push(await connectToPrimary(url, settings))
    const [client, other] = clients
    if (client === undefined || other === undefined) return []
    const isShared = await sharesBackends(client, other)
    const dropped = await droppedSettings(client, config)
    return isShared && config.QUARTERMASTER_DATABASE_POOLER === 'none'
      ? [transactionPooler, ...dropped]
      : dropped
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

/** The login must be able to switch to the role of writes, too. */
async function writingFaults(serving: OwnerUrl, config: Config): Promise<Finding[]> {
  const role = writeRoleOf(config)
  if (role === config.QUARTERMASTER_DATABASE_ROLE) return []
  const identity = { role, pooler: config.QUARTERMASTER_DATABASE_POOLER }
  const settings = servingConnection(identity)
  try {
    const client = await connectToPrimary(serving.url, settings)
    try {
      if (settings.localSettings === undefined) return []
      await client.query(client.beginText())
      await client.query('commit')
    } finally {
      await client.end().catch(() => {})
    }
    return []
  } catch (error) {
    const fault = roleFault(error, serving, role)
    if (fault === undefined) throw error
    return [fault]
  }
}

const transactionPooler = problem(
  'connection',
  'A connection pooler uses another backend for every transaction: prepared statements and settings are lost.',
  'export QUARTERMASTER_DATABASE_POOLER=transaction; or use session pooling (PgBouncer: pool_mode = session).',
)

/** Whether two connections can use the same backend one after the other, as with a pooler in transaction mode. */
async function sharesBackends(one: pg.Client, other: pg.Client): Promise<boolean> {
  const first = await backendOf(one)
  await other.query('begin')
  const otherBackend = await backendOf(other)
  const second = await backendOf(one)
  await other.query('rollback')
  if (otherBackend === first || second !== first) return true
  // A pooler that uses its idle backends round robin may return to the first one once.
  for (let n = 0; n < 3; n++) if ((await backendOf(one)) !== first) return true
  return false
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}

/** Settings that were requested but are not in effect, which happens only with a pooler. */
async function droppedSettings(client: Connection, config: Config): Promise<Finding[]> {
  const requested = servingParameters(config.QUARTERMASTER_DATABASE_ROLE)
  await client.query(client.beginText())
  const rows = await currentSettings(client, Object.keys(requested))
  await client.query('commit')
  const user = pg.escapeIdentifier(targetOf(config.DATABASE_URL ?? '').user)
  return rows
    .filter(({ name, is }) => !isInForce(name, requested[name], is))
    .map(({ name, is }) =>
      name === 'role'
        ? problem(
            'rights',
            `Requests would be served as the login role instead of ${requested[name]}: a connection pooler ignores the role.`,
            `export QUARTERMASTER_DATABASE_POOLER=transaction; or set QUARTERMASTER_DATABASE_ROLE to empty and use a login role with no other privileges: grant ${requested[name]} to ${user};`,
          )
        : problem(
            'connection',
            `Serving connections have ${name} = ${is} instead of ${requested[name]}: a connection pooler ignores the setting.`,
            `export QUARTERMASTER_DATABASE_POOLER=transaction; or: alter role ${user} set ${name} = ${requested[name]};`,
          ),
    )
}

/** PostgreSQL rejects the connection if the login role is not a member of the role. */
export function roleFault(error: unknown, { url }: OwnerUrl, role: string): Finding | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== '42501') return undefined
  const { user } = targetOf(url)
  const repair = `grant ${pg.escapeIdentifier(role)} to ${pg.escapeIdentifier(user)};`
  return problem('rights', `${user} cannot set the role ${role}: ${error.message}.`, repair)
}
