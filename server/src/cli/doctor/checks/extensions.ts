import type pg from 'pg'
import { type Finding, ok, problem } from '../finding.ts'

export interface ExtensionFacts {
  readonly name: string
  readonly installed: boolean
  readonly available: boolean
}

const needed = ['pg_trgm', 'btree_gin']

/** Before the first migration they need only be there to install: it installs them. */
export async function checkExtensions(client: pg.Client, migrated: boolean): Promise<Finding[]> {
  const { rows } = await client.query<ExtensionFacts>(
    `select n.name, e.oid is not null as installed, a.name is not null as available
       from unnest($1::text[]) n (name)
       left join pg_extension e on e.extname = n.name
       left join pg_available_extensions a on a.name = n.name
      order by n.name`,
    [needed],
  )
  return rows.map((context) => judgeExtension(context, migrated))
}

export function judgeExtension({ name, installed, available }: ExtensionFacts, migrated: boolean): Finding {
  if (installed) return ok('extensions', `The extension ${name} is there.`)
  if (available && !migrated) return ok('extensions', `The extension ${name} can be installed.`)
  if (available)
    return problem('extensions', `The extension ${name} is missing.`, `create extension ${name};`)
  return problem(
    'extensions',
    `The extension ${name} is missing, and the server does not have it to install.`,
    `Install PostgreSQL's contrib package on the server (Debian: apt-get install postgresql-contrib), ` +
      `then create extension ${name};`,
  )
}
