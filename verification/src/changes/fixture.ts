import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../../server/src/limits/limits.ts'
import type { Context, Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { anyProduct, asJson } from './products.ts'
import { recordChanges } from './recorded-changes.ts'
import type { Writing } from './writers.ts'

export interface Fixture extends Stoppable, Writing {
  readonly service: Service
}

const scopes = 'product:read,product:write'

/** Two processes, and an account with enough products for totals that are carried instead of counted. */
export async function startFixture(context: Context): Promise<Fixture> {
  const records = limits.filterSortRecordsMax * 2
  context.log(`starting two servers and importing ${records} products`)
  const service = await Service.start({ max_connections: '200' })
  const client = new Client(64)
  const stop = async () => {
    client.close()
    await service.stop()
  }
  try {
    await recordChanges(service.postgres.url)
    const account = 'acme'
    const key = await service.account(account, scopes)
    const random = new Random(context.seed, 60)
    const file = join(service.folder, 'products.ndjson')
    const rows = Array.from({ length: records }, (_, at) => ({ id: at + 1, ...asJson(anyProduct(random)) }))
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await service.command(['import', 'product', file, '--account', account])
    const ports = [(await service.serve()).port, (await service.serve()).port]
    const ownerUrl = service.postgres.url
    return { service, client, ports, ownerUrl, account, key, records, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
