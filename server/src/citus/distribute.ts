import type pg from 'pg'
import { defaultLimits } from '../limits/passed-limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { servingParameters } from '../postgres/settings.ts'
import { inTransaction } from '../postgres/transaction.ts'

/** Earlier versions do not give the privileges on columns to the shards. */
export const citusVersionMin = '13.1'

/** Small tables without data of one account: every node has a copy. */
export const referenceTables: readonly string[] = ['account', 'migration']

export interface DistributeOptions {
  /** The roles of serving connections, as which Citus connects from one node to another. */
  readonly roles: readonly string[]
  /** Shards of each table. Default: the setting `citus.shard_count`. */
  readonly shards?: number | undefined
}

/**
 * Distributes the tables of a migrated database by `account_id`, so that all rows of an account are on one worker. Tables that are
 * distributed already stay as they are. Returns the names of the others.
 */
export async function distribute(
  client: Connection,
  { roles, shards }: DistributeOptions,
): Promise<string[]> {
  await rejectUnsupported(client)
  for (const role of roles) await prepareRole(client, role)
  return await inTransaction(client, () => distributeTables(client, shards))
}

/**
 * What a session of a role needs on a worker: the startup options of serving connections do not get there. Without the unit, which
 * Citus drops when it gives the settings to a new node.
 */
export function roleSettings(): Readonly<Record<string, string>> {
  return { ...servingParameters(''), lock_timeout: `${defaultLimits.writeLockMsMax}` }
}

/** Distributes the tables that a migration has added to a distributed database, in a transaction. Returns their names. */
export async function distributeAdded(client: pg.Client): Promise<string[]> {
  return (await isDistributed(client, 'tally')) ? await distributeTables(client, undefined) : []
}

/** As the extension names it: 13.2-1. Undefined if the database does not have it. */
export async function citusVersion(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ version: string }>(
    `select extversion as version from pg_extension where extname = 'citus'`,
  )
  return rows[0]?.version
}

export function isSupportedVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
  const [majorMin = 0, minorMin = 0] = citusVersionMin.split('.').map(Number)
  return major > majorMin || (major === majorMin && minor >= minorMin)
}

async function rejectUnsupported(client: pg.Client): Promise<void> {
  const version = await citusVersion(client)
  if (version === undefined) {
    throw new Error(
      'This database does not have the extension Citus. Preload it on every node (shared_preload_libraries = citus), run ' +
        '`create extension citus` in this database on each, and add the workers with citus_add_node.',
    )
  }
  if (!isSupportedVersion(version))
    throw new Error(
      `Citus is ${version}; ${citusVersionMin} or later is required. Earlier versions drop privileges on columns.`,
    )
  const { rows } = await client.query<{ coordinator: boolean; workers: number }>(
    `select (select groupid from pg_dist_local_group) = 0 as coordinator,
            (select count(*)::int from pg_dist_node
              where groupid <> 0 and noderole = 'primary' and isactive and shouldhaveshards) as workers`,
  )
  const [node] = rows
  if (node?.coordinator !== true)
    throw new Error('This node is a worker. Set DATABASE_OWNER_URL to the coordinator, and run it again.')
  if (node.workers === 0)
    throw new Error(`The cluster has no workers. On the coordinator: select citus_add_node('HOST', 5432);`)
}

/** The roles have no password, so only the nodes, by their pg_hba.conf, and the owner can become them. */
async function prepareRole(client: pg.Client, role: string): Promise<void> {
  const name = client.escapeIdentifier(role)
  await client.query(`alter role ${name} login`)
  for (const [setting, to] of Object.entries(roleSettings()))
    await client.query(`alter role ${name} set ${setting} = ${client.escapeLiteral(to)}`)
}

async function distributeTables(client: pg.Client, shards: number | undefined): Promise<string[]> {
  const distributed: string[] = []
  // Tables are created on several connections to a worker otherwise, and the next command could not see them.
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  for (const name of referenceTables) {
    if (await isDistributed(client, name)) continue
    await client.query('select create_reference_table($1::regclass)', [name])
    distributed.push(name)
  }
  for (const name of await accountTables(client)) {
    if (await isDistributed(client, name)) continue
    await client.query(
      'select create_distributed_table($1::regclass, $2, colocate_with => $3, shard_count => $4::int)',
      name === 'tally' ? [name, 'account_id', 'none', shards ?? null] : [name, 'account_id', 'tally', null],
    )
    distributed.push(name)
  }
  return distributed
}

/** Every table with data of accounts. The tally first: the others are colocated with it. */
export async function accountTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attname = 'account_id'
        and not a.attisdropped and c.relname <> all($1::text[])
      order by c.relname <> 'tally', c.relname`,
    [referenceTables],
  )
  return rows.map(({ name }) => name)
}

async function isDistributed(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_dist_partition where logicalrelid = to_regclass($1) and (partmethod = 'h' or repmodel = 't')`,
    [name],
  )
  return rows.length > 0
}
