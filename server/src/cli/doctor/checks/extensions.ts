import type pg from 'pg'
import { type Finding, ok, problem } from '../finding.ts'

export interface Extension {
  readonly name: string
  readonly installed: boolean
  readonly available: boolean
}

const required = ['pg_trgm', 'btree_gin']

/** Before the first migration, which installs them, they need only be available. */
export async function checkExtensions(client: pg.Client, migrated: boolean): Promise<Finding[]> {
  const { rows } = await client.query<Extension>(
    `select n.name, e.oid is not null as installed, a.name is not null as available
       from unnest($1::text[]) n (name)
       left join pg_extension e on e.extname = n.name
       left join pg_available_extensions a on a.name = n.name
      order by n.name`,
    [required],
  )
  return rows.map((extension) => extensionFinding(extension, migrated))
}

export function extensionFinding({ name, installed, available }: Extension, migrated: boolean): Finding {
  if (installed) return ok('extensions', `The extension ${name} is installed.`)
  if (available && !migrated) return ok('extensions', `The extension ${name} can be installed.`)
  if (available)
    return problem('extensions', `The extension ${name} is missing.`, `create extension ${name};`)
  return problem(
    'extensions',
    `The extension ${name} is missing, and it is not available on the server.`,
    `Install PostgreSQL's contrib package on the server (Debian: apt-get install postgresql-contrib), ` +
      `then create extension ${name};`,
  )
}
