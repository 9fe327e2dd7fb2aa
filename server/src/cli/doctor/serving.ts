import pg from 'pg'
import type { Config } from '../../config.ts'
import { connectToPrimary } from '../../store/client.ts'
import { servingConnection, servingParameters } from '../../store/connections.ts'
import { placeOf } from '../database-fault.ts'
import type { OwnerUrl } from '../owner.ts'
import { connected, faultFinding } from './connection-fault.ts'
import { type Finding, right, unchecked, wrong } from './finding.ts'

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
  let client: pg.Client | undefined
  try {
    client = await connectToPrimary(serving.url, servingConnection(config.DATABASE_ROLE))
    const dropped = await droppedSettings(client, config)
    return [...dropped, right('connection', `Requests can be served: ${connected(serving)}`)]
  } catch (error) {
    // A role that does not exist was told of with the rights.
    if (error instanceof pg.DatabaseError && error.code === '22023') return []
    return [roleFault(error, serving, config.DATABASE_ROLE) ?? faultFinding(error, serving)]
  } finally {
    await client?.end().catch(() => {})
  }
}

/** What was asked for when the connection began, and was not done: only a pooler in between ignores it. */
async function droppedSettings(client: pg.Client, config: Config): Promise<Finding[]> {
  const asked = servingParameters(config.DATABASE_ROLE)
  const { rows } = await client.query<{ name: string; is: string }>(
    'select name, current_setting(name) as is from unnest($1::text[]) name',
    [Object.keys(asked)],
  )
  const user = pg.escapeIdentifier(placeOf(config.DATABASE_URL ?? '').user)
  return rows
    .filter(({ name, is }) => asked[name] !== is)
    .map(({ name, is }) =>
      name === 'role'
        ? wrong(
            'rights',
            `Requests are served as the login itself and not as ${asked[name]}: a pooler in between ignores the role.`,
            `Set DATABASE_ROLE to empty and use a login with no other rights: grant ${asked[name]} to ${user};`,
          )
        : wrong(
            'connection',
            `Serving connections have ${name} = ${is} instead of ${asked[name]}: a pooler in between ignores the setting.`,
            `alter role ${user} set ${name} = ${asked[name]};`,
          ),
    )
}

/** PostgreSQL refuses a role that the login is no member of while it connects. */
function roleFault(error: unknown, { url }: OwnerUrl, role: string): Finding | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== '42501') return undefined
  const { user } = placeOf(url)
  const mend = `grant ${pg.escapeIdentifier(role)} to ${pg.escapeIdentifier(user)};`
  return wrong('rights', `${user} may not take on the role ${role}: ${error.message}.`, mend)
}
