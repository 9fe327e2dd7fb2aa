import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { parse } from 'yaml'
import { freePort } from '../../../../server/src/cli/database/temporary-postgres.ts'
import type { Context } from '../../check.ts'
import { Client, headersFor } from '../../client.ts'
import { isReady } from '../../is-ready.ts'
import { grouped } from '../../progress.ts'
import { Random } from '../../random.ts'
import { Service } from '../../service.ts'
import { waitUntil } from '../../wait-until.ts'
import { expectStatus, LoadGenerator } from '../restarts/load-generator.ts'
import { type BuiltImage, imageCheck } from './built-image.ts'

/** The writes of one account run one after the other. Several accounts do not reach the limit of an account. */
const accounts = ['acme', 'globex', 'initech', 'umbrella']
const path = '/api/v1/resources/partner'
const requestsPerSecond = 200
const inFlightMax = 16
const requestsFull = 50_000
const requestsOf = (context: Context) => context.size(requestsFull, 3_000)

const base = fileURLToPath(new URL('../../../../deploy/kubernetes/base/', import.meta.url))

interface Template {
  readonly spec: {
    readonly securityContext: object
    readonly containers: readonly [
      {
        readonly name: string
        readonly args: readonly string[]
        readonly resources: object
        readonly securityContext: object
        readonly readinessProbe: { readonly periodSeconds: number; readonly failureThreshold: number }
      },
    ]
  }
}

/**
 * Replaces two pods of the Deployment one after the other, as a rolling update does, under reads and creates. The load sends each request
 * once, to a pod whose readiness probe succeeds. (Kubernetes also sends none to a pod that is being deleted.)
 */
export const restartPods = imageCheck(
  'restart_pods',
  `0 failed of ≥ ${grouped(requestsFull)}`,
  async (context, image) => {
    const service = await Service.start()
    const client = new Client(200)
    const pods: Pod[] = []
    try {
      const headers = await Promise.all(
        accounts.map(async (account) => headersFor(account, await service.account(account))),
      )
      for (const name of ['quartermaster-1', 'quartermaster-2']) {
        const pod = new Pod(image, name, await freePort(), service.environment)
        pods.push(pod)
        await pod.start()
      }
      return await measure(context, new PodLoad(context, client, pods, headers), pods)
    } finally {
      for (const pod of pods) pod.close()
      client.close()
      await service.stop()
    }
  },
)

async function measure(context: Context, load: PodLoad, pods: readonly Pod[]) {
  const { generator } = load
  const requests = requestsOf(context)
  const restartsMin = context.size(10, 2)
  let restarts = 0
  try {
    while (restarts < restartsMin || generator.sent < requests) {
      await pods[restarts % pods.length]?.replace()
      restarts += 1
    }
  } finally {
    await generator.end()
  }
  const stored = await load.storedPartners()
  return {
    value: `${generator.failed} failed of ${grouped(generator.sent)}, ${restarts} restarts`,
    samples: Math.min(generator.sent, load.created, restarts),
    ok: generator.failed === 0 && generator.sent >= requests && stored === load.created,
    note: [
      `${Math.round(generator.requestsPerSecond)} requests/s, ${load.created} partners created, ${stored} stored`,
      ...generator.failures,
    ].join('\n'),
  }
}

class Pod {
  readonly port: number
  readonly #image: BuiltImage
  readonly #name: string
  readonly #manifest: string
  readonly #probe: NodeJS.Timeout
  /** As the readiness probe of the Deployment finds. */
  isReady = false

  constructor(image: BuiltImage, name: string, port: number, settings: Readonly<Record<string, string>>) {
    this.port = port
    this.#image = image
    this.#name = name
    this.#manifest = join(image.podman.folder, `${name}.json`)
    const { template }: { template: Template } = parse(
      readFileSync(join(base, 'deployment.yaml'), 'utf8'),
    ).spec
    // Both pods use the network of this machine.
    const addresses = { PORT: String(port), QUARTERMASTER_ADMIN_PORT: '0', QUARTERMASTER_DOMAIN: 'localhost' }
    const environment = { ...settings, ...addresses }
    writeFileSync(this.#manifest, JSON.stringify(manifest(template, image.name, name, environment)))
    const { periodSeconds, failureThreshold } = template.spec.containers[0].readinessProbe
    let failures = 0
    const probe = async () => {
      failures = (await isReady(port)) ? 0 : failures + 1
      if (failures === 0 || failures >= failureThreshold) this.isReady = failures === 0
    }
    this.#probe = setInterval(() => void probe(), periodSeconds * 1000)
  }

  async start(): Promise<void> {
    await this.#image.podman.run('play', 'kube', this.#manifest)
    await waitUntil(async () => this.isReady)
  }

  /** Podman 4 does not read terminationGracePeriodSeconds. */
  async replace(): Promise<void> {
    await this.#image.podman.run('pod', 'stop', '--time=60', this.#name)
    await waitUntil(async () => !this.isReady)
    await this.#image.podman.run('pod', 'rm', this.#name)
    await this.start()
  }

  close(): void {
    clearInterval(this.#probe)
  }
}

/** What a pod of the Deployment runs. Podman 4 does not decode secrets, so the settings are variables. */
function manifest(
  { spec }: Template,
  image: string,
  name: string,
  settings: Readonly<Record<string, string>>,
): object {
  const all = { ...parseEnv(readFileSync(join(base, 'quartermaster.env'), 'utf8')), ...settings }
  const env = Object.entries(all).map(([variable, value]) => ({ name: variable, value }))
  const { name: container, args, resources, securityContext } = spec.containers[0]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      hostNetwork: true,
      securityContext: spec.securityContext,
      containers: [
        { name: container, image, imagePullPolicy: 'Never', args, env, resources, securityContext },
      ],
    },
  }
}

class PodLoad {
  readonly generator: LoadGenerator
  readonly #client: Client
  readonly #pods: readonly Pod[]
  /** Of each account. */
  readonly #headers: readonly (readonly string[])[]
  readonly #random: Random
  created = 0

  constructor(
    context: Context,
    client: Client,
    pods: readonly Pod[],
    headers: readonly (readonly string[])[],
  ) {
    this.#client = client
    this.#pods = pods
    this.#headers = headers
    this.#random = new Random(context.seed, 121)
    this.generator = new LoadGenerator({
      clients: inFlightMax,
      requestsPerSecond,
      progress: context.progress('requests during restarts', requestsOf(context)),
      send: (number) => (this.#random.chance(0.2) ? this.#create(number) : this.#read()),
    })
  }

  async storedPartners(): Promise<number> {
    const totals = this.#headers.map(async (headers) => {
      const request = { port: this.#readyPort(), path: `${path}?limit=1`, headers }
      const { meta }: { meta: { total: number } } = JSON.parse((await this.#client.send(request)).text)
      return meta.total
    })
    return (await Promise.all(totals)).reduce((sum, total) => sum + total, 0)
  }

  async #create(number: number): Promise<void> {
    const headers = ['Content-Type', 'application/json', 'Idempotency-Key', `pod-${number}`]
    const response = await this.#client.send({
      port: this.#readyPort(),
      method: 'POST',
      path,
      headers: [...this.#random.pick(this.#headers), ...headers],
      body: JSON.stringify({ name: `partner ${number}` }),
    })
    expectStatus(response, 201)
    this.created += 1
  }

  async #read(): Promise<void> {
    const query = `limit=10&page=${this.#random.integer(1, 5)}`
    const headers = this.#random.pick(this.#headers)
    const request = { port: this.#readyPort(), path: `${path}?${query}`, headers }
    expectStatus(await this.#client.send(request), 200)
  }

  #readyPort(): number {
    const ready = this.#pods.filter((pod) => pod.isReady)
    if (ready.length === 0) throw new Error('no pod is ready')
    return this.#random.pick(ready).port
  }
}
