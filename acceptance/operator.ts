import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const command = fileURLToPath(new URL('../server/bin/quartermaster.js', import.meta.url))
// About fifty commands are started per run, and compiling takes half of their time.
const compileCache = fileURLToPath(new URL('../node_modules/.cache/acceptance', import.meta.url))
const run = promisify(execFile)

type Environment = Readonly<Record<string, string>>

/** Runs a command of the operator's command line, and returns its output. */
export async function quartermaster(environment: Environment, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [command, ...args], { env: processEnvironment(environment) })
  return stdout
}

export const everyScope = [
  'product:read',
  'product:write',
  'partner:read',
  'partner:create',
  'partner:write',
  'company:read',
  'company:write',
  'account:manage',
]

export interface IssuedKey {
  readonly key: string
  readonly key_id: string
}

export async function issueKey(
  environment: Environment,
  account: string,
  name: string,
  scopes: readonly string[] = everyScope,
  ...extraOptions: readonly string[]
): Promise<IssuedKey> {
  const options = [
    '--account',
    account,
    '--name',
    name,
    '--scopes',
    scopes.join(','),
    '--json',
    ...extraOptions,
  ]
  const issued: IssuedKey = JSON.parse(await quartermaster(environment, 'key', 'create', ...options))
  return issued
}

export interface Running {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a temporary PostgreSQL, which ends with this process. */
export async function startPostgres(): Promise<Running> {
  const child = spawn(process.execPath, [command, 'postgres', '--json'], {
    env: processEnvironment({}),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const line = await firstLine(child)
  const { database_url: url }: { database_url: string } = JSON.parse(line)
  return { url, stop: () => stop(child) }
}

/** Starts the service, or the program `ACCEPTANCE_SERVER` in its place, with the same arguments and environment. */
export async function startServer(environment: Environment): Promise<Running> {
  const port = await freePort()
  const replacement = process.env['ACCEPTANCE_SERVER']
  const [program, ...first] = replacement === undefined ? [process.execPath, command] : [replacement]
  const child = spawn(program, [...first, 'serve', '--port', String(port)], {
    env: processEnvironment({ QUARTERMASTER_LOG_LEVEL: 'warn', ...environment }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errorOutput = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = `${errorOutput}${chunk.toString()}`.slice(-4000)
  })
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + 120_000
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`The service exited with code ${child.exitCode}:\n${errorOutput}`)
    if (await isReady(`${url}/readyz`)) return { url, stop: () => stop(child) }
    if (Date.now() > deadline) {
      await stop(child)
      throw new Error(`The service was not ready within 120 s:\n${errorOutput}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).status === 200
  } catch {
    return false
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'))
  }
  throw new Error('The temporary PostgreSQL did not start.')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Without the caller's own settings, so that only those of the test apply. */
function processEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env
  const inherited = Object.entries({ PATH, HOME, TMPDIR, LANG }).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(inherited),
    NODE_COMPILE_CACHE: compileCache,
    QUARTERMASTER_SHUTDOWN_DELAY_MS: '0',
    ...environment,
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
