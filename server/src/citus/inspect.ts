import type pg from 'pg'
import type { Inspected } from '../postgres/layout.ts'
import {
  accountTables,
  citusVersion,
  citusVersionMin,
  isSupportedVersion,
  referenceTables,
  roleSettings,
} from './distribute.ts'

const distribute = 'quartermaster distribute'

/** These versions plan statements on local shards anew every time, and leak memory. */
const leakingVersions: readonly string[] = ['13.2.1', '13.2.2']

/** Versions, tables and nodes. `roles`: those of serving connections. */
export async function inspectCluster(client: pg.Client, roles: readonly string[]): Promise<Inspected[]> {
  return [
    ...(await versionFindings(client)),
    ...(await tableFindings(client)),
    ...(await nodeFindings(client, roles)),
  ]
}

async function versionFindings(client: pg.Client): Promise<Inspected[]> {
  const version = (await citusVersion(client)) ?? ''
  const { rows } = await client.query<{ release: string }>(
    `select substring(citus_version() from '[0-9.]+') as release`,
  )
  const release = rows[0]?.release ?? version
  if (!isSupportedVersion(version)) {
    const message = `Citus is ${release}; ${citusVersionMin} or later is required.`
    return [{ message, repair: 'Upgrade Citus on every node, then: alter extension citus update;' }]
  }
  if (leakingVersions.includes(release)) {
    const message = `Citus ${release} plans statements on local shards anew every time, and leaks memory.`
    return [{ message, repair: 'Use Citus 13.2.0, or a version after 13.2.2.' }]
  }
  return [{ message: `Citus is ${release}.` }]
}

interface TableRow {
  readonly name: string
  /** Null if the table is not distributed. */
  readonly method: string | null
  readonly column: string | null
  readonly colocation: string | null
}

async function tableFindings(client: pg.Client): Promise<Inspected[]> {
  const names = await accountTables(client)
  const { rows } = await client.query<TableRow>(
    `select t.name, case p.repmodel when 't' then 'reference' else p.partmethod::text end as method,
            column_to_column_name(p.logicalrelid, p.partkey) as column, p.colocationid::text as colocation
       from unnest($1::text[]) t(name) left join pg_dist_partition p on p.logicalrelid = to_regclass(t.name)`,
    [[...names, ...referenceTables]],
  )
  const tally = rows.find(({ name }) => name === 'tally')
  const wrong = rows.filter(({ name, method, column, colocation }) =>
    referenceTables.includes(name)
      ? method !== 'reference'
      : method !== 'h' || column !== 'account_id' || colocation !== tally?.colocation,
  )
  if (wrong.length === 0)
    return [{ message: `${names.length} tables are distributed by account, and colocated.` }]
  const missing = wrong.filter(({ method }) => method === null).map(({ name }) => name)
  const other = wrong.filter(({ method }) => method !== null).map(({ name }) => name)
  return [
    ...(missing.length === 0
      ? []
      : [{ message: `Not distributed: ${missing.join(', ')}.`, repair: distribute }]),
    ...other.map((name) => ({
      message: `${name} is distributed in another way than tally: statements of a request need both on one worker.`,
      repair: `select undistribute_table('${name}'); then ${distribute}`,
    })),
  ]
}

interface NodeAnswer {
  readonly node: string
  readonly success: boolean
  readonly result: string
}

/** A role without its login or settings on one node fails only the requests of the accounts there. */
async function nodeFindings(client: pg.Client, roles: readonly string[]): Promise<Inspected[]> {
  const { rows } = await client.query<NodeAnswer>(
    `select n.nodename || ':' || n.nodeport as node, c.success, c.result
       from run_command_on_all_nodes($1, give_warning_for_connection_errors => true) c join pg_dist_node n using (nodeid)
      order by n.nodeid`,
    [nodeCommand(client, roles)],
  )
  const findings = rows.flatMap(({ node, success, result }) => {
    if (!success) {
      const repair = 'Start the node, and check citus.node_conninfo and the pg_hba.conf of the node.'
      return [{ message: `The node ${node} did not answer: ${result.split('\n', 1)[0]}`, repair }]
    }
    const faults: readonly Required<Inspected>[] = JSON.parse(result)
    return faults.map(({ message, repair }) => ({ message: `${node}: ${message}`, repair }))
  })
  return findings.length > 0
    ? findings
    : [{ message: `${rows.length} nodes have the roles, privileges and settings that requests need.` }]
}

/** A statement whose result is the faults of the node as JSON. */
function nodeCommand(client: pg.Client, roles: readonly string[]): string {
  const literal = (text: string) => client.escapeLiteral(text)
  const fault = (condition: string, message: string, repair: string) =>
    `select ${literal(message)} as message, ${literal(repair)} as repair where not coalesce((${condition}), false)`
  const setting = (name: string) => `current_setting(${literal(name)}, true)`
  const faults = [
    fault(
      `${setting('max_prepared_transactions')}::int >= ${setting('max_connections')}::int`,
      'max_prepared_transactions is less than max_connections: commits on several nodes fail.',
      'Set max_prepared_transactions to max_connections, and restart the node.',
    ),
    fault(
      `${setting('wal_level')} = 'logical'`,
      'wal_level is not logical: accounts cannot be moved while they are written to.',
      'alter system set wal_level = logical; then restart the node.',
    ),
    fault(
      `${setting('output_plugin_libraries')} is null or ${setting('output_plugin_libraries')} ~ '\\mcitus\\M'`,
      'output_plugin_libraries does not contain citus: accounts cannot be moved.',
      `alter system set output_plugin_libraries = pgoutput, citus; select pg_reload_conf();`,
    ),
    ...roles.flatMap((role) => roleFaults(role, literal, fault)),
  ]
  return `select coalesce(json_agg(f), '[]') from (${faults.join(' union all ')}) f`
}

function roleFaults(
  role: string,
  literal: (text: string) => string,
  fault: (condition: string, message: string, repair: string) => string,
): string[] {
  const ofRole = `from pg_roles where rolname = ${literal(role)}`
  // Citus gives them to a new node in lower case.
  const settings = Object.entries(roleSettings()).map(([name, value]) =>
    literal(`${name}=${value}`.toLowerCase()),
  )
  return [
    fault(
      `select rolcanlogin ${ofRole}`,
      `${role} cannot log in: Citus connects to this node as that role.`,
      distribute,
    ),
    fault(
      `select lower(rolconfig::text)::text[] @> array[${settings.join(', ')}] ${ofRole}`,
      `${role} lacks settings that limit what a statement may cost.`,
      distribute,
    ),
    fault(
      `select has_table_privilege(${literal(role)}, 'tally', 'select') where exists (select ${ofRole})`,
      `${role} lacks the privilege select on tally.`,
      'Drop the node and add it again, or grant the privileges there.',
    ),
  ]
}
