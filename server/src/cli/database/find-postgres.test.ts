import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { findPostgres } from './find-postgres.ts'

const folders: string[] = []

afterEach(() => {
  vi.unstubAllEnvs()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A folder with programs that report this version. */
function folderWith(version: string, ...programs: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'path-'))
  folders.push(folder)
  for (const name of programs) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho '${name} (PostgreSQL) ${version}'\n`, { mode: 0o755 })
  }
  return folder
}

it('uses the PostgreSQL on PATH before the one that Debian installs', () => {
  const clientOnly = folderWith('17.2', 'initdb')
  const complete = folderWith('15.9 (Debian 15.9-0+deb12u1)', 'initdb', 'postgres')
  vi.stubEnv('PATH', [clientOnly, complete, process.env['PATH']].join(delimiter))
  expect(findPostgres()).toBe(complete)
})

it('ignores a PostgreSQL before 15, and one that cannot be started', () => {
  const old = folderWith('14.13', 'initdb', 'postgres')
  const broken = folderWith('17.2', 'initdb')
  writeFileSync(join(broken, 'postgres'), '', { mode: 0o755 })
  const next = folderWith('18beta1', 'initdb', 'postgres')
  vi.stubEnv('PATH', [old, broken, next].join(delimiter))
  expect(findPostgres()).toBe(next)
})
