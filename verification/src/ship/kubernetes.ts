import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import type { Check } from '../check.ts'
import { requiring } from './programs.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folders = ['base', 'migrate', 'monitoring']
const run = promisify(execFile)

/** What every manifest has. The rest is checked by the schema of its kind. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
}

/** `kubectl kustomize` builds the manifests, and each matches the schema of its kind: no unknown field, no wrong type. */
export const kubernetesManifests: Check = requiring(['kubectl'], {
  name: 'kubernetes_manifests',
  bound: 'every manifest valid',
  async run() {
    const manifests = (await Promise.all(folders.map(built))).flat()
    const findings = (await Promise.all(manifests.map(schemaFault))).filter((fault) => fault !== undefined)
    findings.push(...(await typeFaults(manifests)))
    return {
      value: `${manifests.length} manifests, ${findings.length} findings`,
      ok: findings.length === 0 && manifests.length > 8,
      note: findings.join('\n'),
    }
  },
})

async function built(folder: string): Promise<Manifest[]> {
  const { stdout } = await run('kubectl', ['kustomize', join(root, 'deploy/kubernetes', folder)])
  return parseAllDocuments(stdout).map((document): Manifest => document.toJS())
}

/** The module with the schema and the type of a manifest. Those of the Prometheus Operator are in a package of their own. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const own = apiVersion.startsWith('monitoring.coreos.com/')
  return `${own ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`
}

/** Values: patterns, formats, required fields. The schemas allow unknown fields. */
async function schemaFault(manifest: Manifest): Promise<string | undefined> {
  const imported: Record<string, new (data: Manifest) => { validate(): void }> = await import(
    moduleOf(manifest)
  )
  const Model = imported[manifest.kind]
  if (Model === undefined) return `${manifest.kind} is unknown`
  try {
    new Model(manifest).validate()
    return undefined
  } catch (error) {
    return `${manifest.kind}: ${String(error)}`
  }
}

/** Unknown fields, which Kubernetes would ignore or reject: TypeScript reports them in an object literal. */
async function typeFaults(manifests: readonly Manifest[]): Promise<string[]> {
  // Below the workspace, so that the packages are found.
  const folder = mkdtempSync(join(root, 'verification/out-manifests-'))
  try {
    manifests.forEach((manifest, n) => {
      const type = `I${manifest.kind}`
      const text = JSON.stringify(manifest, null, 2)
      writeFileSync(
        join(folder, `${manifest.kind}-${n}.ts`),
        `import type { ${type} } from '${moduleOf(manifest)}'\nexport const manifest: ${type} = ${text}\n`,
      )
    })
    const options = { module: 'nodenext', strict: true, noEmit: true, types: [], skipLibCheck: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      (error: { stdout: string }) => error,
    )
    return stdout.split('\n').filter((line) => line !== '')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
