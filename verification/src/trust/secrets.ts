import { execFile } from 'node:child_process'
import { createReadStream, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort, postgresBinaries } from '../../../server/src/cli/database/throwaway-postgres.ts'
import type { Check, Context } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Random } from '../random.ts'
import { allScopes, type ServerProcess, Service } from '../service.ts'
import { startCollector } from './collector.ts'
import { Managed } from './manage.ts'

const run = promisify(execFile)
const products = '/api/v1/inventory/product'

/**
 * Keys are made by every way there is, used, misused and put where they do not belong. Then none of them is in a dump
 * of the database, in the logs at their most talkative, in traces of every request, in metrics, or in the memory of the
 * process. (The values of a filter that is right are data, whatever they are, and are kept with what was understood.)
 */
export const secrets: Check = {
  name: 'secrets',
  bound: '0 plain keys',
  async run(context) {
    const service = await Service.start()
    const client = new Client(16)
    try {
      const traces = join(service.folder, 'traces.json')
      const collector = await startCollector(traces)
      context.atEnd(async () => collector.stop())
      const adminPort = await freePort()
      const settings = {
        LOG_LEVEL: 'trace',
        TRUSTED_PROXIES: '127.0.0.1',
        ADMIN_PORT: String(adminPort),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_TRACES_SAMPLER_ARG: '1',
      }
      const server = await service.serve(settings, [
        '--heapsnapshot-signal=SIGUSR2',
        `--diagnostic-dir=${service.folder}`,
        '--heap-snapshot-string-limit=1000000',
      ])
      const keys = await makeKeys(service, client, server.port, context.size(25, 5))
      await useKeys(context, client, server.port, keys)
      // A connection in use holds the headers of its last request; one that is closed holds nothing.
      client.close()
      await sleep(2_500)
      const places = {
        dump: await dump(service),
        log: server.log,
        traces,
        metrics: await metrics(service, adminPort),
        memory: await heapSnapshot(service, server),
      }
      const found = await Promise.all(
        Object.entries(places).map(async ([place, file]) => {
          const hits = await keysIn(file, keys)
          const witness = await keysIn(file, [witnesses[place] ?? ''], (text) => text)
          return { place, hits, isWhole: witness.length === 1, megabytes: statSync(file).size / 2 ** 20 }
        }),
      )
      const hits = new Set(found.flatMap((each) => each.hits))
      return {
        value: `${hits.size} of ${keys.length} keys`,
        ok: hits.size === 0 && found.every(({ isWhole }) => isWhole),
        note: found
          .map(
            ({ place, hits: each, isWhole, megabytes }) =>
              `${place}: ${each.length} keys in ${megabytes.toFixed(1)} MB${isWhole ? '' : '; it is not whole'}`,
          )
          .join('\n'),
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** Something that has to be in each place, or what was looked through is not what it should be. */
const witnesses: Readonly<Record<string, string>> = {
  dump: 'COPY public.audit',
  log: 'request-completed',
  traces: 'GET /api/v1/inventory/product',
  metrics: 'http_server_request_duration_seconds',
  memory: 'inventory/product',
}

/** By the command line and over HTTP, new and in place of another, valid and ended. */
async function makeKeys(
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
    const made = await acme.makeKey(port)
    const again = ['Idempotency-Key', `secrets-${i}`]
    const once = await acme.post(port, '/manage/v1/keys', { name: 'once', scopes: ['product:read'] }, again)
    const next = await acme.post(port, `/manage/v1/keys/${once.key_id}/rotate`, { overlap_seconds: 3600 })
    const revoked = await acme.makeKey(port)
    await acme.post(port, `/manage/v1/keys/${revoked.key_id}/revoke`, undefined)
    keys.push(made.key, once.key, next.key, revoked.key)
    if (i < 3) keys.push(await rotate(made.key_id, i === 0 ? '0' : '1h'))
  }
  return keys
}

async function useKeys(
  context: Context,
  client: Client,
  port: number,
  keys: readonly string[],
): Promise<void> {
  const count = context.size(20_000, 2_000)
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
    await client.ask({ port, path, headers })
    if (at % 10 === 0) await pasteInto(client, port, headers, other, random)
    progress.step()
  })
  progress.end()
}

/** Into what a write would store. */
async function pasteInto(
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
  await client.ask({
    port,
    method: 'POST',
    path,
    headers: [...headers, ...more, ...type],
    body: JSON.stringify(body),
  })
}

async function dump(service: Service): Promise<string> {
  const file = join(service.folder, 'dump.sql')
  await run(join(postgresBinaries(), 'pg_dump'), ['-f', file, service.postgres.url])
  return file
}

async function metrics(service: Service, adminPort: number): Promise<string> {
  const file = join(service.folder, 'metrics.txt')
  writeFileSync(file, await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text())
  return file
}

/** Written by Node on a signal, after it has collected what is garbage; whole when it does not grow any more. */
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

/** By the random part of each: a key cut at either end would count, too. Pieces overlap, so that none is missed. */
async function keysIn(
  file: string,
  keys: readonly string[],
  sought: (key: string) => string = (key) => key.slice(5, 31),
): Promise<string[]> {
  const found = new Set<string>()
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 2 ** 22 })) {
    const text = rest + String(chunk)
    for (const key of keys) if (!found.has(key) && text.includes(sought(key))) found.add(key)
    rest = text.slice(-64)
  }
  return [...found]
}
