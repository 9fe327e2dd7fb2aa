import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { documented } from '../../../../architecture/documented.ts'
import type { Check } from '../../check.ts'
import type { Manifest } from './manifest.ts'
import { egressFaults } from './network-policies.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const run = promisify(execFile)

/**
 * `kubectl kustomize` builds the manifests, and each matches the schema of its kind: no unknown field, no wrong type. The network
 * policies let pods reach what they need, and nothing else.
 */
export const kubernetesManifests: Check = {
  name: 'kubernetes_manifests',
  needs: ['kubectl'],
  bound: 'every manifest valid',
  async run() {
    const manifests = [...(await installed()), ...(await built('monitoring')), ...(await built('ingress'))]
    const findings = (await Promise.all(manifests.map(schemaFault))).filter((fault) => fault !== undefined)
    findings.push(...(await typeFaults(manifests)), ...egressFaults(manifests))
    return {
      value: `${manifests.length} manifests, ${findings.length} findings`,
      samples: manifests.length,
      ok: findings.length === 0 && manifests.length > 8,
      note: findings.join('\n'),
    }
  },
}

/**
 * The commands of deploy/README.md, as far as they can run without a cluster: `create` prints what it would create, `apply -k`
 * what it would apply, and nothing waits for the Job.
 */
async function installed(): Promise<Manifest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-kubernetes-'))
  try {
    cpSync(join(root, 'deploy/kubernetes'), join(folder, 'kubernetes'), { recursive: true })
    for (const name of ['database-url', 'database-owner-url'])
      writeFileSync(join(folder, name), 'postgres://localhost/quartermaster\n')
    const commands = `${documented('kubernetes')}${documented('kubernetes-operator')}`
      .replaceAll(/^(kubectl (?:-n \S+ )?create .*)$/gm, '$1 --dry-run=client --output=yaml; echo ---')
      .replaceAll(/^kubectl apply -k (\S+)$/gm, 'kubectl kustomize $1; echo ---')
      .replaceAll(/^kubectl .* (?:wait|rollout status|exec) .*\n/gm, '')
    const { stdout } = await run('bash', ['-ec', commands], { cwd: folder })
    const manifests = manifestsOf(stdout)
    // kubectl prints what it would create with a timestamp that is null, which the schema does not permit.
    const created = manifests.filter(({ metadata }) => metadata.creationTimestamp === null)
    const kinds = created.map(({ kind }) => kind).join()
    if (kinds !== 'Namespace,Secret,Secret') throw new Error(`The commands would create ${kinds}.`)
    return manifests.filter((manifest) => !created.includes(manifest))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function built(folder: string): Promise<Manifest[]> {
  const { stdout } = await run('kubectl', ['kustomize', join(root, 'deploy/kubernetes', folder)])
  return manifestsOf(stdout)
}

function manifestsOf(yaml: string): Manifest[] {
  return parseAllDocuments(yaml)
    .map((document): Manifest | null => document.toJS())
    .filter((manifest) => manifest !== null)
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
