import { execFile } from 'node:child_process'
import { createReadStream, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Check, Context } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Random } from '../random.ts'
import { postgresProgram } from '../replication/postgres-program.ts'
import { allScopes, type ServerProcess, Service } from '../service.ts'
import { startCollector } from './collector.ts'
import { Managed } from './manage.ts'

const run = promisify(execFile)
const products = '/api/v1/inventory/product'

/**
 * Creates keys by every command and endpoint, uses them, and sends them in wrong parts of requests. Then searches for them in
 * a dump of the database, in the log at level `trace`, in traces of every request, in the metrics and in the memory of the
 * process: none may be found. (Values of valid filters are not tested: they are data, which the request log stores.)
 */
export const secrets: Check = {
  name: 'secrets',
  bound: '0 keys in plain text',
  async run(context) {
    const service = await Service.start()
    const client = new Client(16)
    try {
      const traces = join(service.folder, 'traces.json')
      const collector = await startCollector(traces)
      context.atEnd(async () => collector.stop())
      const adminPort = await freePort()
      const settings = {
        QUARTERMASTER_LOG_LEVEL: 'trace',
        QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1',
        QUARTERMASTER_ADMIN_PORT: String(adminPort),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_TRACES_SAMPLER_ARG: '1',
      }
      const server = await service.serve(settings, [
        '--heapsnapshot-signal=SIGUSR2',
        `--diagnostic-dir=${service.folder}`,
        '--heap-snapshot-string-limit=1000000',
      ])
      const keys = await createKeys(service, client, server.port, context.size(25, 5))
      await useKeys(context, client, server.port, keys)
      // The memory contains the headers of the last request of every open connection.
      client.close()
      await sleep(2_500)
      const sources = {
        dump: await dump(service),
        log: server.log,
        traces,
        metrics: await metrics(service, adminPort),
        memory: await heapSnapshot(service, server),
      }
      const found = await Promise.all(
        Object.entries(sources).map(async ([source, file]) => {
          const hits = await keysIn(file, keys)
          const witness = await keysIn(file, [witnesses[source] ?? ''], (text) => text)
          return { source, hits, isComplete: witness.length === 1, megabytes: statSync(file).size / 2 ** 20 }
        }),
      )
      const hits = new Set(found.flatMap((each) => each.hits))
      return {
        value: `${hits.size} of ${keys.length} keys`,
        samples: Math.min(keys.length, found.length),
        ok: hits.size === 0 && found.every(({ isComplete }) => isComplete),
        note: found
          .map(
            ({ source, hits: each, isComplete, megabytes }) =>
              `${source}: ${each.length} keys in ${megabytes.toFixed(1)} MB${isComplete ? '' : '; it is not complete'}`,
          )
          .join('\n'),
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** A text that each source must contain, to show that the search works. */
const witnesses: Readonly<Record<string, string>> = {
  dump: 'COPY public.audit',
  log: 'request-completed',
  traces: 'GET /api/v1/inventory/product',
  metrics: 'http_server_request_duration_seconds',
  memory: 'inventory/product',
}

/** By the command line and over HTTP; created and rotated; valid and revoked. */
async function createKeys(
  service: Service,
  client: Client,
  port: number,
  rounds: number,
): Promise<readonly string[]> {
  const manage = await service.account('acme')
  const acme = new Managed(client, 'acme', manage)
  const keys = [manage, await service.account('beta', allScopes)]
  const rotate = async (id: string, overlap: string) => {
    const args = ['key', 'rotate', id, '--account', 'acme', '--overlap', overlap, '--json']
    const { key }: { key: string } = JSON.parse(await service.command(args))
    return key
  }
  for (let i = 0; i < rounds; i++) {
    const created = await acme.createKey(port)
    const idempotency = ['Idempotency-Key', `secrets-${i}`]
    const once = await acme.post(
      port,
      '/manage/v1/keys',
      { name: 'once', scopes: ['product:read'] },
      idempotency,
    )
    const next = await acme.post(port, `/manage/v1/keys/${once.key_id}/rotate`, { overlap_seconds: 3600 })
    const revoked = await acme.createKey(port)
    await acme.post(port, `/manage/v1/keys/${revoked.key_id}/revoke`, undefined)
    keys.push(created.key, once.key, next.key, revoked.key)
    if (i < 3) keys.push(await rotate(created.key_id, i === 0 ? '0' : '1h'))
  }
  return keys
}

async function useKeys(
  context: Context,
  client: Client,
  port: number,
  keys: readonly string[],
): Promise<void> {
  const count = context.size(20_000, 1_000)
  const progress = context.progress('requests with keys', count)
  await inParallel(count, 16, async (at) => {
    const random = new Random(context.seed, 62, at)
    const key = random.pick(keys)
    const other = random.pick(keys)
    const path = random.pick([
      products,
      `${products}?limit=${random.integer(1, 50)}&filter=list_price>${random.integer(1, 99)}`,
      `${products}/1`,
      `${products}?filter=${other}=1`,
      `${products}?key=${other}`,
      `/api/v1/${other}`,
      `/api/v1/${other.replace('_', '%5F')}/%zz`,
      `/manage/v1/keys/${other}`,
      '/manage/v1/keys?limit=1000',
      '/manage/v1/requests?limit=100',
      '/manage/v1/audit?limit=100',
    ])
    const more = random.pick<readonly string[]>([
      [],
      ['X-Request-Id', other],
      ['X-Api-Key', other],
      ['If-None-Match', `"${other}"`],
      ['X-Forwarded-Host', `${other}.localhost`],
      ['User-Agent', other],
      ['Accept-Encoding', other],
      ['Traceparent', `00-${other}-b7ad6b7169203331-01`],
    ])
    const sent = random.pick([`Bearer ${key}`, `Bearer ${key}`, `bearer  ${key} `, key, `Bearer ${key}x`])
    const host = random.pick(['acme.localhost', 'acme.localhost', 'beta.localhost'])
    const headers = ['Host', host, 'Authorization', sent, ...more]
    await client.send({ port, path, headers })
    if (at % 10 === 0) await sendInWrite(client, port, headers, other, random)
    progress.step()
  })
  progress.end()
}

/** Sends a key in fields and headers of a write. */
async function sendInWrite(
  client: Client,
  port: number,
  headers: readonly string[],
  key: string,
  random: Random,
): Promise<void> {
  const [path, body] = random.pick([
    ['/manage/v1/keys', { name: key, scopes: ['product:read'] }],
    ['/manage/v1/keys', { name: 'shop', scopes: [key] }],
    ['/api/v1/resources/partner', { name: `for ${key}` }],
    ['/api/v1/resources/partner', { name: 'Nordwind', [key]: key }],
  ] as const)
  const more = random.pick<readonly string[]>([[], ['Idempotency-Key', key]])
  const type = ['Content-Type', random.pick(['application/json', `application/json; a=${key}`])]
  await client.send({
    port,
    method: 'POST',
    path,
    headers: [...headers, ...more, ...type],
    body: JSON.stringify(body),
  })
}

async function dump(service: Service): Promise<string> {
  const file = join(service.folder, 'dump.sql')
  await run(postgresProgram('pg_dump'), ['-f', file, service.postgres.url])
  return file
}

async function metrics(service: Service, adminPort: number): Promise<string> {
  const file = join(service.folder, 'metrics.txt')
  writeFileSync(file, await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text())
  return file
}

/** Node writes it on a signal, after a garbage collection. It is complete when its size no longer changes. */
async function heapSnapshot(service: Service, server: ServerProcess): Promise<string> {
  server.signal('SIGUSR2')
  let size = -1
  for (let tries = 0; tries < 240; tries++) {
    await sleep(500)
    const name = readdirSync(service.folder).find((file) => file.endsWith('.heapsnapshot'))
    if (name === undefined) continue
    const file = join(service.folder, name)
    const now = statSync(file).size
    if (now > 0 && now === size) return file
    size = now
  }
  throw new Error('the process wrote no heap snapshot')
}

/** Searches for the random part of each key, so that a truncated key is found, too. Chunks overlap, so that none is missed. */
async function keysIn(
  file: string,
  keys: readonly string[],
  searchText: (key: string) => string = (key) => key.slice(5, 31),
): Promise<string[]> {
  const found = new Set<string>()
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 2 ** 22 })) {
    const text = rest + String(chunk)
    for (const key of keys) if (!found.has(key) && text.includes(searchText(key))) found.add(key)
    rest = text.slice(-64)
  }
  return [...found]
}
