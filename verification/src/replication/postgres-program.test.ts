import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { debianBinaries } from '../../../server/src/cli/database/find-postgres.ts'
import { postgresProgram } from './postgres-program.ts'

/** An installation that has only the server. */
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postgres-program-'))
  for (const name of ['initdb', 'postgres']) writeFileSync(join(folder, name), '')
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

it('is the one next to the server', () => {
  writeFileSync(join(folder, 'psql'), '')
  expect(postgresProgram('psql', folder)).toBe(join(folder, 'psql'))
})

it.skipIf(debianBinaries().length === 0)("is Debian's if the installation of the server lacks it", () => {
  expect(postgresProgram('psql', folder)).toBe(join(String(debianBinaries().at(-1)), 'psql'))
})

it('is an error that names the program, the folders and the repair if no installation has it', () => {
  expect(() => postgresProgram('pg_unknown', folder)).toThrow(
    new RegExp(
      `^The program pg_unknown of PostgreSQL was not found in ${folder}.*apt-get install postgresql-client`,
    ),
  )
})
