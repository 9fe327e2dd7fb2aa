import { request } from 'node:http'
import { type Profiler, Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../../server/src/config/config.ts'
import { startService } from '../../../server/src/service.ts'
import { Service } from '../../../verification/src/service.ts'
import { type Caller, fillAccounts, products } from '../load/fixture.ts'

/**
 * `npm run walk`: the source files and functions that one request executes, by V8's own counts, in a process that has already
 * served requests. `npm run walk -- --files` names them.
 */

interface Walk {
  readonly name: string
  readonly send: (caller: Caller, port: number, n: number) => Promise<void>
}

interface Executed {
  readonly files: ReadonlySet<string>
  readonly functions: ReadonlySet<string>
}

/** What the process does in the background falls into some of the repetitions, not into all. */
const repetitions = 8
const partners = '/api/v1/resources/partner'
const sources = ['server/src/', 'filter/src/'].map(
  (folder) => new URL(`../../../${folder}`, import.meta.url).href,
)
const root = fileURLToPath(new URL('../../../', import.meta.url))

const walks: readonly Walk[] = [
  { name: 'list with a filter, cold', send: get((n) => `${products}?limit=10&filter=name*a${n}`) },
  { name: 'list, cached', send: get(() => `${products}?limit=7`) },
  { name: 'list, not modified', send: notModified },
  { name: 'record, cold', send: get((n) => `${products}/${n + 10}`) },
  { name: 'create', send: create },
]

function get(path: (n: number) => string) {
  return async (caller: Caller, port: number, n: number) => {
    await sent(caller, port, { path: path(n) }, 200)
  }
}

async function notModified(caller: Caller, port: number): Promise<void> {
  const path = `${products}?limit=8`
  const etag = await etagOf(caller, port, path)
  await sent(caller, port, { path, headers: { 'if-none-match': etag } }, 304)
}

const etags = new Map<string, string>()

async function etagOf(caller: Caller, port: number, path: string): Promise<string> {
  const known = etags.get(path) ?? (await sent(caller, port, { path }, 200))
  etags.set(path, known)
  return known
}

async function create(caller: Caller, port: number, n: number): Promise<void> {
  const body = JSON.stringify({ name: `Partner ${n}` })
  await sent(caller, port, { path: partners, method: 'POST', body }, 201)
}

interface Sent {
  readonly path: string
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Resolves to the ETag. */
function sent({ host, key }: Caller, port: number, message: Sent, expected: number): Promise<string> {
  const { path, method = 'GET', body, headers = {} } = message
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const authorization = `Bearer ${key}`
    const sending = request({
      port,
      path,
      method,
      host: '127.0.0.1',
      headers: { host, authorization, ...type, ...headers },
    })
    sending.once('error', reject)
    sending.once('response', (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === expected) resolve(response.headers.etag ?? '')
        else reject(new Error(`${method} ${path}: ${response.statusCode}`))
      })
    })
    sending.end(body)
  })
}

async function main(): Promise<void> {
  const database = await Service.start()
  const [caller] = await fillAccounts(database, 30_000, 1)
  if (caller === undefined) throw new Error('no account was created')
  const service = await startService(readConfig({}), {
    databaseUrl: database.postgres.url,
    host: '127.0.0.1',
    port: 0,
    log: { emit: () => undefined, dropped: () => 0 },
  })
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    for (const walk of walks) {
      const executed = await measure(session, walk, caller, service.port)
      print(walk.name, executed)
    }
  } finally {
    session.disconnect()
    await service.close()
    await database.stop()
  }
}

async function measure(session: Session, walk: Walk, caller: Caller, port: number): Promise<Executed> {
  for (let n = 0; n < 3; n++) await walk.send(caller, port, n)
  let common: Executed | undefined
  for (let n = 3; n < 3 + repetitions; n++) {
    await session.post('Profiler.takePreciseCoverage')
    await walk.send(caller, port, n)
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const executed = executedIn(result)
    common = common === undefined ? executed : inBoth(common, executed)
  }
  if (common === undefined) throw new Error('nothing was measured')
  return common
}

function executedIn(scripts: readonly Profiler.ScriptCoverage[]): Executed {
  const files = new Set<string>()
  const functions = new Set<string>()
  for (const { url, functions: found } of scripts) {
    if (!sources.some((folder) => url.startsWith(folder))) continue
    const file = fileURLToPath(url).slice(root.length)
    for (const { functionName, ranges } of found) {
      if ((ranges[0]?.count ?? 0) === 0) continue
      files.add(file)
      if (functionName !== '') functions.add(`${file} ${functionName} ${ranges[0]?.startOffset}`)
    }
  }
  return { files, functions }
}

function inBoth(one: Executed, other: Executed): Executed {
  return {
    files: one.files.intersection(other.files),
    functions: one.functions.intersection(other.functions),
  }
}

function print(name: string, { files, functions }: Executed): void {
  console.log(`${name.padEnd(26)} ${String(files.size).padStart(3)} files  ${functions.size} functions`)
  if (!process.argv.includes('--files')) return
  for (const file of [...files].toSorted()) {
    const names = [...functions].filter((each) => each.startsWith(`${file} `))
    console.log(`  ${file}: ${names.map((each) => each.split(' ')[1]).join(', ')}`)
  }
}

await main()
