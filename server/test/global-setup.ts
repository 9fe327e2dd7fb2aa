import type { TestProject } from 'vitest/node'
import { cloneDatabase, startTemporaryPostgres } from '../src/cli/database/temporary-postgres.ts'
import { migrate } from '../src/postgres/migrations/migrate.ts'
import { citusNodes } from './distributed-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection URL, as superuser, of the server with the migrated template database. */
    postgresUrl: string
  }
}

export const templateName = 'quartermaster_template'

/** One PostgreSQL server for all test files, with a migrated template database that each file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [coordinator] = citusNodes
  if (coordinator !== undefined) {
    project.provide('postgresUrl', coordinator)
    return () => Promise.resolve()
  }
  const postgres = await startTemporaryPostgres({
    fsync: 'off',
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.max': '10000',
  })
  await migrate(await cloneDatabase(postgres.url, templateName, 'template0'))
  project.provide('postgresUrl', postgres.url)
  return () => postgres.stop()
}
