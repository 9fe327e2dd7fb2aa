import { migrationNames } from '../../../postgres/migrations/migrate.ts'
import { type Finding, ok, problem } from '../finding.ts'

export function checkMigrations(applied: readonly string[]): Finding[] {
  const pending = pendingMigrations(applied)
  const unknown = applied.filter((name) => !migrationNames.includes(name))
  const findings: Finding[] = []
  if (unknown.length > 0) {
    findings.push(
      problem(
        'migrations',
        `The database is newer than this build: it has ${unknown.join(', ')}.`,
        'Run the build that has these migrations, or a later one.',
      ),
    )
  }
  if (pending.length > 0) {
    findings.push(problem('migrations', `Not applied yet: ${pending.join(', ')}.`, 'quartermaster migrate'))
  }
  return findings.length > 0
    ? findings
    : [ok('migrations', `All ${migrationNames.length} migrations are applied.`)]
}

export function pendingMigrations(applied: readonly string[]): string[] {
  return migrationNames.filter((name) => !applied.includes(name))
}
