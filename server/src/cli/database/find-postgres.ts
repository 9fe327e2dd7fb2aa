import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const debian = '/usr/lib/postgresql'
const majorMin = 15

/**
 * The folder with `postgres` and `initdb` of an installed PostgreSQL that is new enough. PATH comes first, so that it
 * selects one of several installed versions. Debian installs PostgreSQL outside PATH.
 */
export function findPostgres(): string | undefined {
  const candidates = [...(process.env['PATH'] ?? '').split(delimiter), ...debianBinaries()]
  return candidates.find(
    (folder) =>
      ['postgres', 'initdb'].every((name) => existsSync(join(folder, name))) &&
      majorVersion(folder) >= majorMin,
  )
}

export function postgresBinaries(): string {
  const found = findPostgres()
  if (found !== undefined) return found
  throw new Error(
    'No PostgreSQL 15 or later was found on this machine. Install it (Debian: apt-get install postgresql), ' +
      'or set DATABASE_URL to an existing server.',
  )
}

/** 0 if it cannot be started. */
export function majorVersion(folder: string): number {
  try {
    const text = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8', stdio: 'pipe' })
    return Number(/ (\d+)/.exec(text)?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** The oldest version comes first. */
export function debianBinaries(): string[] {
  if (!existsSync(debian)) return []
  return readdirSync(debian)
    .toSorted((a, b) => Number(a) - Number(b))
    .map((version) => join(debian, version, 'bin'))
}
