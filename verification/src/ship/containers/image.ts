import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documented } from '../../../../architecture/documented.ts'
import {
  freePort,
  startTemporaryPostgres,
  type TemporaryPostgres,
} from '../../../../server/src/cli/database/temporary-postgres.ts'
import type { Context } from '../../check.ts'
import { isReady } from '../../is-ready.ts'
import { waitUntil } from '../../wait-until.ts'
import { type BuiltImage, imageCheck } from './built-image.ts'

const megabytesMax = 250
const readySecondsMax = 3
const acceptance = fileURLToPath(new URL('../../../../acceptance', import.meta.url))

/**
 * Builds the image, runs its commands and its service without privileges on a read-only root, and the acceptance tests
 * against it. The time until it is ready depends on the machine, so it is compared with the bound at full size only.
 */
export const imageWorks = imageCheck(
  'image',
  `≤ ${megabytesMax} MB, ready in ≤ ${readySecondsMax} s, all tests (quick: some)`,
  async (context, image) => {
    const megabytes =
      Number(await image.podman.run('image', 'inspect', '--format={{.Size}}', image.name)) / 1e6
    const postgres = await startTemporaryPostgres({ fsync: 'off' })
    try {
      await runAsDocumented(image, postgres)
      const seconds = await startToReady(context, image, postgres)
      const { passed, total, failed } = await acceptanceTests(context, image)
      const isFast = context.quick || seconds <= readySecondsMax
      const isComplete = failed.length === 0 && passed > 0
      return {
        value: `${Math.round(megabytes)} MB, ${seconds.toFixed(1)} s, ${passed} of ${total} tests`,
        samples: passed,
        ok: megabytes <= megabytesMax && isFast && isComplete,
        note: [`built in ${Math.round(image.buildSeconds)} s`, ...failed.slice(0, 10)].join('\n'),
      }
    } finally {
      await postgres.stop()
    }
  },
)

/**
 * The commands of docs/operating/container.md, on the network of the machine, where the database is, and on another port. With
 * `--ulimit`, podman does not use the defaults of its configuration, and its own for nproc may be more than the machine permits.
 */
async function runAsDocumented({ podman, name }: BuiltImage, { url }: TemporaryPostgres): Promise<void> {
  const port = await freePort()
  const commands = documented('image-run')
    .replaceAll('quartermaster:0.1.0', name)
    .replaceAll('podman run ', 'podman run --network=host --env PORT ')
    .replace('--publish 8080:8080 ', '')
    .replace('--ulimit nofile', '--ulimit nproc=30000:30000 --ulimit nofile')
  await podman.bash(commands, { DATABASE_URL: url, DATABASE_OWNER_URL: url, PORT: String(port) })
  await waitUntil(() => isReady(port))
  await podman.run('rm', '--force', '--time=0', 'quartermaster')
}

/** The median of several starts. Each container must also pass its health check, and exit as documented on SIGTERM. */
async function startToReady(
  context: Context,
  image: BuiltImage,
  { url }: TemporaryPostgres,
): Promise<number> {
  const { podman, name } = image
  const settings = {
    DATABASE_URL: url,
    QUARTERMASTER_LOG_LEVEL: 'warn',
    QUARTERMASTER_SHUTDOWN_DELAY_MS: '0',
  }
  for (const command of ['migrate', 'doctor'])
    await podman.run('run', '--rm', ...podman.containerArguments(name, settings), command)
  const seconds: number[] = []
  for (let start = 0; start < context.size(7, 1); start++) {
    const started = performance.now()
    const container = await serve(image, settings)
    seconds.push((performance.now() - started) / 1000)
    await podman.run('healthcheck', 'run', container.id)
    await podman.run('kill', '--signal=TERM', container.id)
    await exits(image, container.id, '0')
  }
  const slow = await serve(image, { ...settings, QUARTERMASTER_SHUTDOWN_DELAY_MS: '600000' })
  await podman.run('kill', '--signal=TERM', slow.id)
  await waitUntil(async () => !(await isReady(slow.port)))
  // The second signal ends the process at once.
  await podman.run('kill', '--signal=TERM', slow.id)
  await exits(image, slow.id, '143')
  return seconds.toSorted((a, b) => a - b)[Math.floor(seconds.length / 2)] ?? Number.NaN
}

async function serve(
  { podman, name }: BuiltImage,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly id: string; readonly port: number }> {
  const port = await freePort()
  const args = podman.containerArguments(name, { ...settings, PORT: String(port) })
  const id = (await podman.run('run', '--detach', ...args)).trim()
  await waitUntil(() => isReady(port))
  return { id, port }
}

async function exits({ podman }: BuiltImage, id: string, code: string): Promise<void> {
  await waitUntil(
    async () => (await podman.run('inspect', '--format={{.State.Status}}', id)).trim() === 'exited',
  )
  const found = (await podman.run('inspect', '--format={{.State.ExitCode}}', id)).trim()
  if (found !== code) throw new Error(`the container exited with ${found} on SIGTERM instead of ${code}`)
  await podman.run('rm', id)
}

interface TestResults {
  readonly numPassedTests: number
  readonly numTotalTests: number
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** The files of the short form: the specification, the console and the reference, a long body and a long response. */
const shortForm = ['spec-', 'service-documents', 'batch', 'export']

/** Every process that the acceptance tests start is a container of this image. */
async function acceptanceTests(
  context: Context,
  { podman, name }: BuiltImage,
): Promise<{ passed: number; total: number; failed: string[] }> {
  context.log('running the acceptance tests against the image')
  const settings = ['DATABASE_*', 'QUARTERMASTER_*', 'OTEL_*', 'REDIS_*'].map((pattern) => `--env=${pattern}`)
  const args = ['run', '--rm', ...settings, ...podman.containerArguments(name, {})]
  const server = join(podman.folder, 'serve')
  const variables = Object.entries(podman.environment).map(([variable, value]) => `${variable}='${value}'`)
  const quoted = args.map((arg) => `'${arg}'`)
  writeFileSync(server, `#!/bin/sh\nexport ${variables.join(' ')}\nexec podman ${quoted.join(' ')} "$@"\n`, {
    mode: 0o755,
  })
  const results = join(podman.folder, 'acceptance.json')
  const vitest = join(acceptance, '../node_modules/vitest/vitest.mjs')
  const files = context.quick ? shortForm : []
  const options = ['run', '--reporter=json', `--outputFile=${results}`, ...files]
  const env = { ...process.env, ACCEPTANCE_SERVER: server }
  try {
    await promisify(execFile)(process.execPath, [vitest, ...options], { cwd: acceptance, env })
  } catch (error) {
    // If a test failed, the results say which.
    if (!existsSync(results)) throw error
  }
  const { numPassedTests, numTotalTests, testResults }: TestResults = JSON.parse(
    readFileSync(results, 'utf8'),
  )
  const failed = testResults.flatMap(({ message, assertionResults }) => [
    ...(message === '' ? [] : [message]),
    ...assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  ])
  return { passed: numPassedTests, total: numTotalTests, failed }
}
