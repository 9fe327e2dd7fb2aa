import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Dependencies have exact versions, and npm verifies every package by its hash. */

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
}

const root = fileURLToPath(new URL('..', import.meta.url))
const json = (path: string) => JSON.parse(readFileSync(`${root}${path}`, 'utf8'))
const lockOf = (path: string): [string, Locked][] => Object.entries(json(path).packages)

/** The packages that npm downloads: without workspaces and links to them. */
const downloaded = (path: string) =>
  lockOf(path).filter(([location, { link }]) => location.includes('node_modules/') && link !== true)

/** The programs that .ci/install-tools installs next to the workspace. */
const tools = readdirSync(`${root}.ci/tools`).map((name) => `.ci/tools/${name}`)

describe.each(['package-lock.json', ...tools.map((tool) => `${tool}/package-lock.json`)])('%s', (path) => {
  /**
   * Those of other platforms, too: of a package without a hash, npm accepts whatever the registry has under that version. npm
   * writes such an entry if the registry lacks the version for some platform: then use the newest version that it has for all.
   */
  it('has the hash of every package', () => {
    const all = downloaded(path)
    expect(all.length).toBeGreaterThan(0)
    const unverified = all.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
    expect(unverified.map(([location]) => location)).toEqual([])
  })

  it('contains no registry URL', () => {
    expect(downloaded(path).filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  })
})

it('every dependency has an exact version', () => {
  const workspaces: readonly string[] = json('package.json').workspaces
  const packages = [
    'package.json',
    ...tools.map((tool) => `${tool}/package.json`),
    ...workspaces.map((one) => `${one}/package.json`),
  ]
  const loose = packages.flatMap((path) => {
    const { dependencies, devDependencies, optionalDependencies } = json(path)
    const all: Record<string, string> = { ...dependencies, ...devDependencies, ...optionalDependencies }
    return Object.entries(all)
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-beta\.\d+)?$/.test(version))
      .map(([name, version]) => `${path}: ${name} ${version}`)
  })
  expect(loose).toEqual([])
})

it('the tools are installed by exact version and hash', () => {
  expect(tools.map((tool) => basename(tool))).toEqual([
    'node24',
    'node26',
    'node26-macos',
    'npm11',
    'postgres18',
  ])
  for (const tool of tools) {
    const { version, dependencies, optionalDependencies } = json(`${tool}/package.json`)
    // PostgreSQL's package adds the number of its own build to PostgreSQL's version.
    const versions = Object.values<string>({ ...dependencies, ...optionalDependencies })
    expect(versions.map((one) => one.replace(/-beta\.\d+$/, ''))).toEqual(versions.map(() => version))
  }
  expect(readFileSync(`${root}.ci/install-tools`, 'utf8')).not.toMatch(/npm (?:install|i) /)
})
