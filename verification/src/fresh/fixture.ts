import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { limits } from '../../../server/src/limits/limits.ts'
import type { Context, Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import type { Watched } from './checker.ts'
import { Growing, Ledger } from './oracle.ts'
import { anyRow } from './writers.ts'

const processes = 4
const brokenServe = fileURLToPath(new URL('broken-serve.ts', import.meta.url))

export type Breakage = 'stale' | 'torn' | 'replica'

export interface Fixture extends Stoppable {
  readonly client: Client
  readonly ports: readonly number[]
  readonly ownerUrl: string
  readonly accounts: readonly Watched[]
}

/**
 * One PostgreSQL server, four server processes, and accounts that are written often or rarely. Some are large, so that totals
 * of filters are cached; others are small, so that they are not.
 */
export async function startFixture(context: Context, breakage?: Breakage): Promise<Fixture> {
  context.log(`starting ${processes} servers${breakage === undefined ? '' : `, broken: ${breakage}`}`)
  // Four times 16 connections for reads and 16 for writes, and one for each running import.
  const service = await Service.start({ max_connections: '200' })
  const children: Stoppable[] = []
  const client = new Client(128)
  const stop = async () => {
    client.close()
    await Promise.all(children.map((child) => child.stop()))
    await service.stop()
  }
  try {
    const random = new Random(context.seed, 40)
    const accounts = [
      await ledger(service, 'busy-ledger', [20, 150], random, limits.smallAccountRecordsMax),
      await ledger(service, 'brisk-ledger', [100, 400], random),
      await ledger(service, 'calm-ledger', [500, 2_000], random, limits.smallAccountRecordsMax),
      await ledger(service, 'still-ledger', [1_000, 5_000], random),
      await growing(service, 'busy-growing', [0, 100]),
      await growing(service, 'calm-growing', [300, 2_000]),
    ]
    const ports: number[] = []
    for (let n = 0; n < processes; n++) {
      if (breakage === undefined) ports.push((await service.serve()).port)
      else {
        const broken = await serveBroken(service, breakage)
        children.push(broken)
        ports.push(broken.port)
      }
    }
    return { client, ports, ownerUrl: service.postgres.url, accounts, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** `fixedRecords`: never written. */
export async function ledger(
  service: Service,
  name: string,
  pauseMs: readonly [number, number],
  random: Random,
  fixedRecords = 0,
): Promise<Watched<Ledger>> {
  const key = await service.account(name)
  const rows = Array.from({ length: fixedRecords + 40 }, (_, at) => ({
    ...anyRow(random, 'first'),
    id: at + 1,
  }))
  await importRecords({ ownerUrl: service.postgres.url, account: name, resource: 'partner', records: rows })
  return { name, key, pauseMs, oracle: new Ledger(rows, fixedRecords), tags: new Map() }
}

async function growing(
  service: Service,
  name: string,
  pauseMs: readonly [number, number],
): Promise<Watched<Growing>> {
  return { name, key: await service.account(name), pauseMs, oracle: new Growing(), tags: new Map() }
}

export async function serveBroken(
  service: Service,
  breakage: Breakage,
  environment: Readonly<Record<string, string>> = {},
): Promise<Stoppable & { readonly port: number }> {
  const child = fork(brokenServe, [breakage], {
    env: { ...process.env, ...service.environment, ...environment },
  })
  const ended = once(child, 'exit')
  const port = await Promise.race([
    once(child, 'message').then(([message]) => Number(message)),
    ended.then(([code]) => Promise.reject(new Error(`the broken server exited with ${code}`))),
  ])
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { port, stop }
}
