import pg from 'pg'
import type { Config } from '../../../config.ts'
import { connectToPrimary } from '../../../postgres/client.ts'
import {
  beginText,
  currentSettings,
  servingConnection,
  servingParameters,
  setLocalSettings,
} from '../../../postgres/connections.ts'
import { placeOf } from '../../database/database-fault.ts'
import type { OwnerUrl } from '../../database/owner.ts'
import { connected, faultFinding } from '../connection-fault.ts'
import { type Finding, ok, problem, unchecked } from '../finding.ts'

/** The connection that requests are served by, made as they make it. */
export async function checkServing(config: Config): Promise<Finding[]> {
  if (config.DATABASE_URL === undefined) {
    return [
      unchecked(
        'connection',
        'DATABASE_URL is not set: the connection that requests are served by is not checked.',
      ),
    ]
  }
  const serving: OwnerUrl = { url: config.DATABASE_URL, variable: 'DATABASE_URL' }
  try {
    const faults = await servingFaults(serving.url, config)
    return [...faults, ok('connection', `Requests can be served: ${connected(serving)}`)]
  } catch (error) {
    // A role that does not exist was told of with the rights.
    if (error instanceof pg.DatabaseError && error.code === '22023') return []
    return [roleFault(error, serving, config.DATABASE_ROLE) ?? faultFinding(error, serving)]
  }
}

async function servingFaults(url: string, config: Config): Promise<Finding[]> {
  const identity = { role: config.DATABASE_ROLE, pooler: config.DATABASE_POOLER }
  const settings = servingConnection(identity)
  const clients: pg.Client[] = []
  try {
    for (let i = 0; i < 2; i++) clients.push(await connectToPrimary(url, settings))
    const [client, other] = clients
    if (client === undefined || other === undefined) return []
    if (settings.localSettings !== undefined) setLocalSettings(client, settings.localSettings)
    const isShared = await sharesBackends(client, other)
    const dropped = await droppedSettings(client, config)
    return isShared && config.DATABASE_POOLER === 'none' ? [transactionPooler, ...dropped] : dropped
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

const transactionPooler = problem(
  'connection',
  'A pooler in between gives every transaction another connection to PostgreSQL: prepared statements and settings are lost.',
  'export DATABASE_POOLER=transaction; or let it pool sessions (PgBouncer: pool_mode = session).',
)

/** Whether a connection keeps its backend to itself: a pooler gives it to another one between two transactions. */
async function sharesBackends(one: pg.Client, other: pg.Client): Promise<boolean> {
  const first = await backendOf(one)
  await other.query('begin')
  const ofOther = await backendOf(other)
  const meanwhile = await backendOf(one)
  await other.query('rollback')
  return ofOther === first || meanwhile !== first || (await backendOf(one)) !== first
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}

/** What was asked for, and was not done: only a pooler in between ignores it. */
async function droppedSettings(client: pg.Client, config: Config): Promise<Finding[]> {
  const asked = servingParameters(config.DATABASE_ROLE)
  await client.query(beginText(client))
  const rows = await currentSettings(client, Object.keys(asked))
  await client.query('commit')
  const user = pg.escapeIdentifier(placeOf(config.DATABASE_URL ?? '').user)
  return rows
    .filter(({ name, is }) => asked[name] !== is)
    .map(({ name, is }) =>
      name === 'role'
        ? problem(
            'rights',
            `Requests would be served as the login itself and not as ${asked[name]}: a pooler in between ignores the role.`,
            `export DATABASE_POOLER=transaction; or set DATABASE_ROLE to empty and use a login with no other rights: grant ${asked[name]} to ${user};`,
          )
        : problem(
            'connection',
            `Serving connections have ${name} = ${is} instead of ${asked[name]}: a pooler in between ignores the setting.`,
            `export DATABASE_POOLER=transaction; or: alter role ${user} set ${name} = ${asked[name]};`,
          ),
    )
}

/** PostgreSQL refuses a role that the login is no member of while it connects. */
function roleFault(error: unknown, { url }: OwnerUrl, role: string): Finding | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== '42501') return undefined
  const { user } = placeOf(url)
  const repair = `grant ${pg.escapeIdentifier(role)} to ${pg.escapeIdentifier(user)};`
  return problem('rights', `${user} may not take on the role ${role}: ${error.message}.`, repair)
}
