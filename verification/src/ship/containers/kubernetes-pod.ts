import { execFile } from 'node:child_process'
import { appendFileSync, chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort, type TemporaryPostgres } from '../../../../server/src/cli/database/temporary-postgres.ts'
import { Client, headersFor } from '../../client.ts'
import { Service } from '../../service.ts'
import { imageCheck } from './built-image.ts'

const base = fileURLToPath(new URL('../../../../deploy/kubernetes/base', import.meta.url))
const run = promisify(execFile)

/** `podman play kube` runs the Deployment with its settings, security context and limits, and the pod serves a list. */
export const kubernetesPod = imageCheck(
  'kubernetes_pod',
  'serves a list',
  async (_, { podman, name }) => {
    const service = await Service.start({ listen_addresses: '*' })
    try {
      const key = await service.account('acme')
      const port = await freePort()
      const manifest = await podManifest(service, name, port)
      try {
        await podman.run('play', 'kube', '--network=podman', manifest)
        const status = await firstList(port, key)
        return { value: `status ${status}`, samples: 1, ok: status === 200 }
      } finally {
        // If the pod did not start, the reason is already thrown.
        await podman.run('play', 'kube', '--down', manifest).catch(() => {})
      }
    } finally {
      await service.stop()
    }
  },
  ['kubectl'],
)

/**
 * The manifests as kustomize builds them, with another image and other ports. Podman 4.3 does not decode secrets, so a folder of this machine is
 * mounted instead of the secret.
 */
async function podManifest(service: Service, image: string, port: number): Promise<string> {
  const { stdout } = await run('kubectl', ['kustomize', base])
  const secrets = join(service.folder, 'secrets')
  await run('mkdir', ['-m', '755', secrets])
  chmodSync(service.folder, 0o755)
  writeFileSync(join(secrets, 'database-url'), await urlForPod(service.postgres))
  const text = stdout
    .replace(
      /^( +)secret:\n(?: +defaultMode: .*\n)? +secretName: quartermaster$/m,
      `$1hostPath: { path: ${secrets} }`,
    )
    .replace(/image: quartermaster:\S+/, `image: ${image}`)
    .replaceAll('8080', String(port))
    .replaceAll('9464', String(await freePort()))
    .replace('QUARTERMASTER_DOMAIN: example.com', 'QUARTERMASTER_DOMAIN: localhost')
  if (!text.includes(secrets)) throw new Error('the Deployment has no volume with the secret quartermaster')
  const file = join(service.folder, 'manifests.yaml')
  writeFileSync(file, text)
  return file
}

/** The URL of the database for a container, and a rule that admits the network of containers. */
async function urlForPod({ url, folder }: TemporaryPostgres): Promise<string> {
  const { stdout } = await run('podman', ['network', 'inspect', 'podman'])
  const networks: { subnets: { subnet: string; gateway: string }[] }[] = JSON.parse(stdout)
  const network = networks[0]?.subnets[0]
  if (network === undefined) throw new Error(`the network podman has no subnet: ${stdout}`)
  appendFileSync(join(folder, 'data/pg_hba.conf'), `host all all ${network.subnet} trust\n`)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('select pg_reload_conf()')
  await client.end()
  return url.replace('127.0.0.1', network.gateway)
}

async function firstList(port: number, key: string): Promise<number> {
  const client = new Client()
  const end = Date.now() + 120_000
  try {
    for (;;) {
      const headers = headersFor('acme', key)
      const response = await client
        .send({ port, path: '/api/v1/inventory/product', headers })
        .catch(() => undefined)
      // 503 until the first connection to the database is open.
      if (response !== undefined && response.status !== 503) return response.status
      if (Date.now() > end) throw new Error('the pod did not respond within 120 s')
      await sleep(100)
    }
  } finally {
    client.close()
  }
}
