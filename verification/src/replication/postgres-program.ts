import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { debianBinaries, postgresBinaries } from '../../../server/src/cli/database/find-postgres.ts'

/**
 * The path of a program of PostgreSQL. It is searched next to the server, then in Debian's folders, because some
 * installations have only `postgres` and `initdb`: the npm package of PostgreSQL 18, or symbolic links in /usr/local/bin.
 * Debian's newest version comes first: pg_dump and pg_basebackup accept no server that is newer than they are.
 */
export function postgresProgram(name: string, serverFolder = postgresBinaries()): string {
  const folders = [serverFolder, ...debianBinaries().toReversed()]
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (found === undefined) {
    throw new Error(
      `The program ${name} of PostgreSQL was not found in ${folders.join(', ')}. ` +
        'Install the client programs of the same version as the server (Debian: apt-get install postgresql-client).',
    )
  }
  return found
}
