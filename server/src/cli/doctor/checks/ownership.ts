import type pg from 'pg'
import { type Finding, ok, problem } from '../finding.ts'

interface Owner {
  readonly role: string
  readonly database: string
  readonly schema: string
  readonly ownsDatabase: boolean
  readonly createsInSchema: boolean
}

/**
 * The role of the operator's commands must own all tables and be able to create new ones: otherwise the next migration fails. A restore
 * by another role leaves it without.
 */
export async function checkOwnership(client: pg.Client, tables: readonly string[]): Promise<Finding[]> {
  const owner = await currentOwner(client)
  if (owner === undefined) return []
  const name = client.escapeIdentifier(owner.role)
  const { rows: foreign } = await client.query<{ table: string; role: string }>(
    `select quote_ident(c.relname) as table, pg_get_userbyid(c.relowner) as role
       from unnest($1::text[]) with ordinality t (name, n) join pg_class c on c.oid = to_regclass(t.name)
      where not pg_has_role(c.relowner, 'usage') order by n`,
    [tables],
  )
  const findings = foreign.map(({ table, role }) =>
    problem(
      'rights',
      `The table ${table} belongs to ${role}, not to ${owner.role}: the next migration that changes it would fail.`,
      `alter table ${table} owner to ${name};`,
    ),
  )
  const { database, schema } = owner
  if (!owner.ownsDatabase) {
    findings.push(
      problem(
        'rights',
        `${owner.role} does not own the database ${database}: migrations could not create tables or extensions in it.`,
        `alter database ${client.escapeIdentifier(database)} owner to ${name};`,
      ),
    )
  } else if (!owner.createsInSchema) {
    findings.push(
      problem(
        'rights',
        `${owner.role} cannot create tables in the schema ${schema}: the next migration would fail.`,
        `grant create on schema ${client.escapeIdentifier(schema)} to ${name};`,
      ),
    )
  }
  return findings.length > 0 ? findings : [ok('rights', `${owner.role} owns the database and its tables.`)]
}

async function currentOwner(client: pg.Client): Promise<Owner | undefined> {
  const { rows } = await client.query<Owner>(
    `select current_user as role, current_database() as database, current_schema() as schema,
            pg_has_role(d.datdba, 'usage') as "ownsDatabase",
            has_schema_privilege(current_schema(), 'create') as "createsInSchema"
       from pg_database d where d.datname = current_database()`,
  )
  return rows[0]
}
