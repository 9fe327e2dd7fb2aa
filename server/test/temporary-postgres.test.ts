import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { majorVersion, postgresBinaries } from '../src/cli/database/find-postgres.ts'
import { localeOptions, serverUser } from '../src/cli/database/temporary-postgres.ts'

const bin = postgresBinaries()
const major = majorVersion(bin)

it.skipIf(major < 17)('the locale that is used on macOS folds the case of all letters', () => {
  const owner = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'locale-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid ?? owner.uid)
  try {
    const data = join(folder, 'data')
    const options = ['-D', data, '--encoding=UTF8', '--no-sync', ...localeOptions('darwin', major)]
    execFileSync(join(bin, 'initdb'), options, { ...owner, cwd: folder, stdio: 'pipe' })
    const output = execFileSync(join(bin, 'postgres'), ['--single', '-D', data, 'postgres'], {
      ...owner,
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      input: `select lower('ÉЖ') as lower, 'a' < 'B' as ignores_case\n`,
    })
    expect(output).toContain('lower = "éж"')
    expect(output).toContain('ignores_case = "f"')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
