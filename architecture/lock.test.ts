import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Dependencies have exact versions, and npm verifies every package by its hash. */

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly optional?: boolean
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
  readonly libc?: string | readonly string[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const json = (path: string) => JSON.parse(readFileSync(`${root}${path}`, 'utf8'))
const lockOf = (path: string): [string, Locked][] => Object.entries(json(path).packages)

/** The packages that npm downloads: without workspaces and links to them. */
const downloaded = (path: string) =>
  lockOf(path).filter(([location, { link }]) => location.includes('node_modules/') && link !== true)

/** Whether npm would install it on a platform that package.json allows. */
function isInstallable(locked: Locked): boolean {
  const workspace: Locked = json('package.json')
  return (['os', 'cpu', 'libc'] as const).every((kind) => {
    const supported = [locked[kind] ?? []].flat()
    const allowed = [workspace[kind] ?? []].flat()
    expect(allowed, `"${kind}" in package.json`).not.toEqual([])
    if (supported.length === 0) return true
    return allowed.some(
      (one) => supported.includes(one) || supported.some((not) => not.startsWith('!') && not !== `!${one}`),
    )
  })
}

/** The programs that .ci/install-tools installs next to the workspace. */
const tools = readdirSync(`${root}.ci/tools`).map((name) => `.ci/tools/${name}`)

describe.each(['package-lock.json', ...tools.map((tool) => `${tool}/package-lock.json`)])('%s', (path) => {
  it('has the hash of every package that can be installed', () => {
    const all = downloaded(path)
    expect(all.length).toBeGreaterThan(0)
    const unverified = all.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))
    expect(unverified.filter(([, locked]) => isInstallable(locked)).map(([location]) => location)).toEqual([])
    // A package without a hash is optional, and for a platform that package.json does not allow.
    expect(unverified.filter(([, { optional }]) => optional !== true)).toEqual([])
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
  expect(tools).toEqual(['.ci/tools/node24', '.ci/tools/node26', '.ci/tools/npm11', '.ci/tools/postgres18'])
  for (const tool of tools) {
    const { version, dependencies, optionalDependencies } = json(`${tool}/package.json`)
    // PostgreSQL's package adds the number of its own build to PostgreSQL's version.
    const versions = Object.values<string>({ ...dependencies, ...optionalDependencies })
    expect(versions.map((one) => one.replace(/-beta\.\d+$/, ''))).toEqual(versions.map(() => version))
  }
  expect(readFileSync(`${root}.ci/install-tools`, 'utf8')).not.toMatch(/npm (?:install|i) /)
})
