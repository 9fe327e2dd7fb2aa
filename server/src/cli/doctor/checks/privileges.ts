import type pg from 'pg'
import type { Config } from '../../../config.ts'
import { placeOf } from '../../database/database-fault.ts'
import { type Finding, ok, problem } from '../finding.ts'

type Privilege = 'select' | 'insert' | 'update' | 'delete' | 'truncate'

/** What requests need, and nothing else: the grants of the migrations. */
const needed: Readonly<Record<string, readonly Privilege[]>> = {
  account: ['select'],
  api_key: ['select', 'insert', 'delete'],
  audit: ['select', 'insert'],
  request: ['select', 'insert', 'delete'],
  usage: ['select', 'insert', 'update', 'delete'],
  tally: ['select'],
  idempotency: ['select', 'insert', 'update', 'delete'],
  product: ['select'],
  partner: ['select', 'insert'],
  company: ['select'],
  migration: ['select'],
}
/**
 * Of some tables only these columns are changed: a tally is ticked, never given to another account or resource; a key
 * ends or is used, and never gets another hash or scope.
 */
const changedColumns: Readonly<Record<string, readonly string[]>> = {
  tally: ['version', 'total', 'last_id'],
  api_key: ['expires_at', 'revoked_at', 'rotated_to', 'last_used_on'],
}

/** Made by the first migration. */
const serverRole = 'quartermaster_server'

/** What the role that serves may do. A right too few ends in refused requests; one too many makes a slip dangerous. */
export async function checkRights(client: pg.Client, config: Config): Promise<Finding[]> {
  const role =
    config.DATABASE_ROLE || (config.DATABASE_URL === undefined ? '' : placeOf(config.DATABASE_URL).user)
  if (role === '') return []
  const context = await roleFacts(client, role)
  if (context === undefined) {
    const repair = `create role ${role} nologin; then: quartermaster doctor, which names the grants it lacks`
    return [problem('rights', `There is no role ${role}.`, repair)]
  }
  const findings =
    context.superuser || context.owner
      ? [tooPowerful(role, context.superuser, config)]
      : await privilegeFaults(client, role)
  return findings.length > 0
    ? findings
    : [ok('rights', `Requests are served as ${role}, with the rights they need.`)]
}

async function roleFacts(
  client: pg.Client,
  role: string,
): Promise<{ superuser: boolean; owner: boolean } | undefined> {
  const { rows } = await client.query<{ superuser: boolean; owner: boolean }>(
    `select r.rolsuper as superuser,
            exists (select from pg_class c where c.oid = any (select to_regclass(name) from unnest($2::text[]) name)
                      and pg_has_role(r.oid, c.relowner, 'usage')) as owner
       from pg_roles r where r.rolname = $1`,
    [role, Object.keys(needed)],
  )
  return rows[0]
}

function tooPowerful(role: string, superuser: boolean, config: Config): Finding {
  const what = superuser ? 'a superuser' : 'the owner of the tables'
  const message = `Requests are served as ${role}, ${what}: far more than they need.`
  return config.DATABASE_ROLE === serverRole
    ? problem('rights', message, `alter role ${role} nosuperuser; and give its tables to another role`)
    : problem('rights', message, `export DATABASE_ROLE=${serverRole}`)
}

/** A role of one's own lacks many rights at once, and one grant gives them all. */
async function privilegeFaults(client: pg.Client, role: string): Promise<Finding[]> {
  const { lacking, excess } = await privileges(client, role)
  const name = client.escapeIdentifier(role)
  const missing =
    role === serverRole || lacking.length === 0
      ? lacking.map((it) => problem('rights', `${role} lacks the right to ${it}.`, `grant ${it} to ${name};`))
      : [
          problem(
            'rights',
            `${role} lacks ${lacking.length} rights that requests need, first of all to ${lacking[0]}.`,
            `grant ${serverRole} to ${name};`,
          ),
        ]
  const superfluous = excess.map((it) =>
    problem(
      'rights',
      `${role} has the right to ${it}, which no request needs.`,
      `revoke ${it} from ${name}, public;`,
    ),
  )
  return [...missing, ...superfluous]
}

/** Rights as a grant names them: `insert on partner`. */
async function privileges(client: pg.Client, role: string): Promise<{ lacking: string[]; excess: string[] }> {
  const { rows: tables } = await client.query<{
    table: string
    privilege: Privilege
    granted: boolean | null
  }>(
    `select t as table, p as privilege, has_table_privilege($1, to_regclass(t), p) as granted
       from unnest($2::text[]) with ordinality a (t, n),
            unnest(array['select', 'insert', 'update', 'delete', 'truncate']) with ordinality b (p, m)
      order by n, m`,
    [role, Object.keys(needed)],
  )
  const { rows: others } = await client.query<{ privilege: string; granted: boolean }>(
    `select 'connect on database ' || quote_ident(current_database()) as privilege,
            has_database_privilege($1, current_database(), 'connect') as granted
      union all
     select 'usage on schema ' || quote_ident(current_schema()), has_schema_privilege($1, current_schema(), 'usage')
      union all
     select 'update (' || c.columns || ') on ' || c.t,
            (select bool_and(has_column_privilege($1, c.t, name, 'update')) from string_to_table(c.columns, ', ') name)
       from unnest($2::text[], $3::text[]) c (t, columns)`,
    [role, Object.keys(changedColumns), Object.values(changedColumns).map((columns) => columns.join(', '))],
  )
  const isDue = (table: string, privilege: Privilege) => needed[table]?.includes(privilege) === true
  const shown = ({ table, privilege }: { table: string; privilege: Privilege }) => `${privilege} on ${table}`
  return {
    lacking: [
      ...tables.filter((it) => isDue(it.table, it.privilege) && it.granted !== true).map(shown),
      ...others.filter((it) => !it.granted).map((it) => it.privilege),
    ],
    excess: tables.filter((it) => !isDue(it.table, it.privilege) && it.granted === true).map(shown),
  }
}
