import type pg from 'pg'
import { migrationNames } from '../../store/migrate.ts'
import { type Finding, right, wrong } from './finding.ts'

export function checkMigrations(applied: readonly string[]): Finding[] {
  const pending = pendingMigrations(applied)
  const unknown = applied.filter((name) => !migrationNames.includes(name))
  const findings: Finding[] = []
  if (unknown.length > 0) {
    findings.push(
      wrong(
        'migrations',
        `The database is newer than this build: it has ${unknown.join(', ')}.`,
        'Run the build that brought it, or a later one.',
      ),
    )
  }
  if (pending.length > 0) {
    findings.push(wrong('migrations', `Not applied yet: ${pending.join(', ')}.`, 'quartermaster migrate'))
  }
  return findings.length > 0
    ? findings
    : [right('migrations', `All ${migrationNames.length} migrations are applied.`)]
}

export function pendingMigrations(applied: readonly string[]): string[] {
  return migrationNames.filter((name) => !applied.includes(name))
}

export async function appliedMigrations(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    `select to_regclass('migration') is not null as there`,
  )
  if (tables[0]?.there !== true) return []
  const { rows } = await client.query<{ name: string }>('select name from migration order by id')
  return rows.map((row) => row.name)
}
