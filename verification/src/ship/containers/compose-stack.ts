import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documented } from '../../../../architecture/documented.ts'
import { freePort } from '../../../../server/src/cli/database/temporary-postgres.ts'
import type { Context } from '../../check.ts'
import { type BuiltImage, imageCheck } from './built-image.ts'

const deploy = fileURLToPath(new URL('../../../../deploy/', import.meta.url))
const base = 'localhost/quartermaster-substitute:debian'
/** Only ends a check that hangs: a command waits until the service is ready. */
const commandMsMax = 600_000
const run = promisify(execFile)

/** The commands of deploy/README.md as written, from nothing to a response through TLS. */
export const composeStack = imageCheck(
  'compose_stack',
  'every command works',
  async (context, image) => {
    const stack = await Stack.prepare(context, image)
    try {
      return await verify(stack)
    } finally {
      await stack.remove()
    }
  },
  ['podman-compose', 'openssl', 'curl', 'container-names'],
)

async function verify(stack: Stack) {
  const started = performance.now()
  const install = stack.commandsOf(documented('compose'))
  const request = stack.commandsOf(documented('compose-request'))
  let output = ''
  for (const command of install) output = await stack.sh(command)
  const key = /\bqm_[0-9A-Za-z]+/.exec(output)?.[0] ?? ''
  const listed = await stack.sh(request.join('\n'), { KEY: key })
  const seconds = (performance.now() - started) / 1000
  const findings = [
    ...(listed.includes('"total"') ? [] : [`the list is: ${listed}`]),
    ...(await metricsFaults(stack)),
    ...(await stack.exposedSecrets()),
  ]
  const commands = install.length + request.length
  return {
    value: `${commands} commands, first list after ${seconds.toFixed(0)} s`,
    samples: commands,
    ok: findings.length === 0 && key !== '' && commands >= 6,
    note: findings.join('\n'),
  }
}

/** Prometheus scrapes both processes and evaluates the rules. */
async function metricsFaults(stack: Stack): Promise<string[]> {
  const url = `http://127.0.0.1:${stack.ports['PROMETHEUS_PORT']}/api/v1/query?query=sum(quartermaster_ready)`
  const end = Date.now() + 180_000
  let text = ''
  while (Date.now() < end) {
    text = await fetch(url).then(
      (response) => response.text(),
      (error: unknown) => String(error),
    )
    if (text.includes(',"2"]')) return []
    await sleep(1_000)
  }
  return [`Prometheus does not report two ready processes: ${text}`]
}

/** A copy of `deploy/` as its own project, with free ports, and images that replace those of others. */
class Stack {
  readonly ports: Readonly<Record<string, string>>
  readonly #folder: string
  readonly #image: BuiltImage

  private constructor(folder: string, ports: Readonly<Record<string, string>>, image: BuiltImage) {
    this.#folder = folder
    this.ports = ports
    this.#image = image
  }

  static async prepare(context: Context, image: BuiltImage): Promise<Stack> {
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-compose-'))
    cpSync(deploy, folder, { recursive: true, filter: (path) => basename(path) !== 'secrets' })
    const names = ['HTTP_PORT', 'HTTPS_PORT', 'PROMETHEUS_PORT', 'GRAFANA_PORT']
    const ports = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, String(await freePort())] as const)),
    )
    await buildSubstitutes(context, image, imagesOf(readFileSync(join(folder, 'compose.yaml'), 'utf8')))
    return new Stack(folder, ports, image)
  }

  /** The commands of a block, with the port of this stack. */
  commandsOf(block: string): string[] {
    return block
      .replaceAll(':443:', `:${this.ports['HTTPS_PORT']}:`)
      .replaceAll('example.com/', `example.com:${this.ports['HTTPS_PORT']}/`)
      .split('\n')
      .filter((line) => line !== '')
  }

  async sh(command: string, variables: Record<string, string> = {}): Promise<string> {
    const { stdout } = await run('sh', ['-c', command], {
      cwd: this.#folder,
      env: { ...this.#environment, ...variables },
      maxBuffer: 2 ** 26,
      timeout: commandMsMax,
    })
    return stdout
  }

  /** Secrets in what podman shows of the containers, and in the command lines of all processes. */
  async exposedSecrets(): Promise<string[]> {
    const folder = join(this.#folder, 'secrets')
    const secrets = readdirSync(folder)
      .filter((name) => name.endsWith('-password'))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8').trim()] as const)
    const shown = (await this.sh('podman inspect $(podman ps -aq)')) + (await this.sh('ps -eo args'))
    return secrets.filter(([, secret]) => shown.includes(secret)).map(([name]) => `${name} is visible`)
  }

  async remove(): Promise<void> {
    const project = this.#environment['COMPOSE_PROJECT_NAME']
    await this.sh('podman-compose down').catch(() => '')
    await this.sh(`podman volume ls -q | grep ^${project}_ | xargs -r podman volume rm`).catch(() => '')
    await this.sh(`podman network rm ${project}_default`).catch(() => '')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ...this.ports,
      ...this.#image.podman.environment,
      QUARTERMASTER_IMAGE: this.#image.name,
      COMPOSE_PROJECT_NAME: basename(this.#folder).toLowerCase(),
    }
  }
}

/** The images of others, by the name of the program in the Containerfile of the substitutes. */
function imagesOf(compose: string): [string, string][] {
  return [...compose.matchAll(/^ +image: (docker\.io\/\S+\/(\w+):\S+)$/gm)].map(
    ([, name = '', target = '']) => [target, name],
  )
}

/** Builds the images from Debian's packages, under the names of others, in the storage of the check. */
async function buildSubstitutes(
  context: Context,
  { podman }: BuiltImage,
  images: readonly [string, string][],
): Promise<void> {
  context.log("building images from Debian's packages")
  const folder = 'verification/src/ship/substitutes'
  await podman.script(`${folder}/build-base`, [base], {})
  for (const [target, name] of images) await podman.script(`${folder}/build`, [target, name], {})
}
