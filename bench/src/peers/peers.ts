import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { Random } from '../../../verification/src/random.ts'
import { type Account, type Fixture, smallRecords } from '../ratios/fixture.ts'
import { headersOf } from '../ratios/same-work.ts'
import { productPath } from '../ratios/workloads.ts'
import { Server } from '../server.ts'
import { peersFolder } from './peers-folder.ts'

/** Another server on the same database, with the same URLs, keys and number of connections as the service. */
export interface Peer {
  readonly name: string
  readonly server: Server
}

/** Connections, as QUARTERMASTER_DATABASE_POOL_MAX. */
const poolMax = 10
const platformatic = { name: '@platformatic/db', version: '3.67.0' }
const accountsCompared = 5

export async function startPeers(context: Context, fixture: Fixture): Promise<readonly Peer[]> {
  const programs = [{ name: 'node:http and pg', file: 'node-http.ts' }]
  if (isInstalled()) programs.push({ name: 'Platformatic', file: 'platformatic.ts' })
  else
    context.log(
      `Platformatic is not compared. To install it: npm install --no-save --prefix bench/peers ${platformatic.name}@${platformatic.version}`,
    )
  const all: Peer[] = []
  for (const { name, file } of programs) {
    const program = fileURLToPath(new URL(file, import.meta.url))
    const server = await Server.spawn(fixture.folder, (port) => ({
      args: ['--max-semi-space-size=16', program],
      environment: { DATABASE_URL: fixture.url, PORT: String(port), POOL_MAX: String(poolMax) },
    }))
    context.atEnd(() => server.stop())
    await verifyPeer(fixture, { name, server }, new Random(context.seed))
    all.push({ name, server })
  }
  return all
}

function isInstalled(): boolean {
  try {
    createRequire(peersFolder).resolve(platformatic.name)
    return true
  } catch {
    return false
  }
}

/** Compares pages and records of random accounts with those of the service, and rejects a server that accepts any key. */
async function verifyPeer(fixture: Fixture, { name, server }: Peer, random: Random): Promise<void> {
  const client = new Client(1)
  const get = async (port: number, account: Account, path: string) => {
    const { status, text } = await client.send({ port, path, headers: headersOf(account) })
    return { status, body: status === 200 ? asPlainJson(text) : undefined }
  }
  try {
    for (let i = 0; i < accountsCompared; i++) {
      const account = random.pick(fixture.small)
      for (const path of [
        `${productPath}?page=${random.integer(1, smallRecords / 10)}&limit=10`,
        `${productPath}/${random.integer(1, smallRecords)}`,
      ]) {
        const [expected, found] = [
          await get(fixture.server.port, account, path),
          await get(server.port, account, path),
        ]
        if (!isDeepStrictEqual(found, expected))
          throw new Error(`${name}, ${path}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
      }
      const { status } = await get(
        server.port,
        { ...account, key: random.pick(fixture.small).key },
        productPath,
      )
      if (status !== 401) throw new Error(`${name}: status ${status} for a wrong key`)
    }
  } finally {
    client.close()
  }
}

/** Only `data`, `count` and `total`, with names, numbers and timestamps in the format of the service. */
function asPlainJson(text: string): unknown {
  const { data, meta }: { data: unknown; meta?: { count: number; total: number } } = JSON.parse(text, plain)
  return { data, ...(meta === undefined ? {} : { count: meta.count, total: meta.total }) }
}

/** Platformatic returns names in camelCase, and numbers as strings. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toISOString()
    return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      one,
    ]),
  )
}
