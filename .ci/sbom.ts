import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundled } from '../site/bundled.ts'

/**
 * Writes what the service and its development consist of, in CycloneDX, into sbom/. It is read from the lock file alone.
 * A component from the registry without a hash is an error: its content could not be verified.
 */

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly purl: string
  readonly hashes?: readonly unknown[]
}

interface Bom {
  readonly bomFormat: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const ours = /^pkg:npm\/(?:quartermaster|%40quartermaster)/

function bomOf(...options: readonly string[]): Bom {
  const args = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
    ...options,
  ]
  const text = execFileSync('npm', [...args, '--loglevel=error'], { cwd: root, encoding: 'utf8' })
  const bom: Bom = JSON.parse(text)
  // npm calls a workspace by its folder.
  const named = (one: Component): Component =>
    ours.test(one.purl) ? { ...one, name: one['bom-ref'].replace(/@[^@]*$/, '') } : one
  return {
    ...bom,
    metadata: { ...bom.metadata, component: named(bom.metadata.component) },
    components: bom.components.map(named),
  }
}

function write(file: string, bom: Bom): void {
  writeFileSync(`${root}sbom/${file}`, `${JSON.stringify(bom, null, 2)}\n`)
  console.log(`sbom/${file}: ${bom.components.length} components`)
}

mkdirSync(`${root}sbom`, { recursive: true })
const development = bomOf()
// The libraries of the console and of the site are shipped inside their built files. Those of the site are a small part of what builds it.
const withConsole = bomOf('--workspace=server', '--workspace=console', '--omit=dev')
const ofSite = development.components.filter(({ purl }) =>
  bundled.some((name) => decodeURIComponent(purl).startsWith(`pkg:npm/${name}@`)),
)
if (ofSite.length !== bundled.length)
  throw new Error('site/bundled.ts names a package that is not installed.')
const service = { ...withConsole, components: [...withConsole.components, ...ofSite] }
const unverified = service.components.filter(({ purl, hashes }) => !ours.test(purl) && hashes === undefined)
if (service.bomFormat !== 'CycloneDX' || unverified.length > 0) {
  throw new Error(
    `Components of the service without a hash: ${unverified.map(({ purl }) => purl).join(', ')}`,
  )
}
write('service.cdx.json', service)
write('development.cdx.json', development)
