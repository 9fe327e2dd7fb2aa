import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * A package.json and package-lock.json for a folder with the server's tarball: `npm ci` there installs the versions that
 * were tested, verified by their hashes. `npm install` of the tarball alone chooses the newest versions that the
 * dependencies of its dependencies allow.
 */

interface Locked {
  readonly name?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly inBundle?: boolean
  readonly bundleDependencies?: readonly string[]
  readonly integrity?: string
}

type Packages = Readonly<Record<string, Locked>>

export interface InstallLock {
  readonly manifest: object
  readonly lock: object
}

export function installLock(
  root: string,
  workspace: string,
  tarball: string,
  bundleDependencies: readonly string[],
): InstallLock {
  const { lockfileVersion, packages }: { lockfileVersion: number; packages: Packages } = JSON.parse(
    readFileSync(`${root}package-lock.json`, 'utf8'),
  )
  const { name = '', ...server } = packages[workspace] ?? {}
  const installed = `node_modules/${name}`
  const found: Record<string, Locked> = {
    [installed]: {
      ...server,
      resolved: `file:${basename(tarball)}`,
      integrity: hashOf(tarball),
      bundleDependencies,
    },
  }
  const queue = [workspace]
  for (let location = queue.shift(); location !== undefined; location = queue.shift()) {
    for (const needed of needs(packages[location] ?? {})) {
      const from = locate(packages, location, needed)
      const locked = packages[from] ?? {}
      const to =
        locked.link === true ? `${installed}/${from}` : from.replace(`${workspace}/`, `${installed}/`)
      if (to in found) continue
      found[to] = locked.link === true ? bundled(packages[locked.resolved ?? '']) : locked
      queue.push(from)
    }
  }
  const sorted = Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const manifest = { private: true, dependencies: { [name]: `file:${basename(tarball)}` } }
  const all = { '': { dependencies: manifest.dependencies }, ...Object.fromEntries(sorted) }
  return { manifest, lock: { lockfileVersion, requires: true, packages: all } }
}

/** Without optional peers: they belong to development, as @types/pg does. */
function needs({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  )
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** Where Node finds `name` from `location`: in the nearest node_modules. */
function locate(packages: Packages, location: string, name: string): string {
  const folders = location.split('/')
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    const candidate = [...folders.slice(0, depth), 'node_modules', name].join('/')
    if (candidate in packages) return candidate
  }
  throw new Error(`package-lock.json has no ${name} for ${location}.`)
}

/** A workspace is a link in the lock file of the checkout. The tarball contains it. */
function bundled(workspace: Locked = {}): Locked {
  return { ...workspace, inBundle: true }
}

function hashOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
}
