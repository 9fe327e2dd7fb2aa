import type { LoadedConfig } from '../../../config/config.ts'
import { findOwnerUrl } from '../../database/owner.ts'
import { type Finding, ok, problem } from '../finding.ts'

/** Checks that need no connection to the database. */
export function checkConfiguration({ config, faults }: LoadedConfig): Finding[] {
  const problems = faults.map(({ message, repair }) => problem('configuration', message, repair))
  // A database URL that is invalid is missing from the configuration, too, and has a fault of its own.
  const isDatabaseFaulty = faults.some(({ variable }) => /^DATABASE_(?:OWNER_)?URL/.test(variable))
  if (findOwnerUrl(config) === undefined && !isDatabaseFaulty) problems.push(noDatabase)
  return problems.length > 0 ? problems : [ok('configuration', 'The configuration is valid.')]
}

const noDatabase = problem(
  'configuration',
  'DATABASE_URL is not set.',
  'export DATABASE_URL=postgres://quartermaster:PASSWORD@localhost:5432/quartermaster',
)
