import { createReadStream, rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check } from '../../../verification/src/check.ts'
import { Client, headersFor } from '../../../verification/src/client.ts'
import { differences, expectedTable, seconds } from '../../../verification/src/import/bare-copy.ts'
import { writeProducts } from '../../../verification/src/import/files.ts'
import { Service } from '../../../verification/src/service.ts'

const ratioMax = 1.3
const growthMbMax = 60
const path = '/api/v1/inventory/product'

/** A batch over HTTP and `quartermaster import` of the same file, and how much memory the batch adds to the server at its peak. */
export const batchRate: Check = {
  name: 'batch_rate',
  bound: `≤ ${ratioMax} × import, + ≤ ${growthMbMax} MB`,
  async run(context) {
    const records = context.size(1_000_000, 50_000)
    const service = await Service.start({ shared_buffers: '1GB', max_wal_size: '8GB' })
    const file = join(service.folder, 'products.csv')
    try {
      await writeProducts(file, records, context.seed)
      const keys = { imported: await service.account('imported'), batched: await service.account('batched') }
      const imported = await seconds(() =>
        service.command(['import', 'product', file, '--account', 'imported']),
      )
      context.log(`quartermaster import of ${records} products: ${imported.toFixed(1)} s`)
      const server = await service.serve({}, ['--max-semi-space-size=16'])
      await warmUp(server.port, keys.imported, records)
      const before = server.memory({ reset: true }).now
      const batched = await seconds(() => sendBatch(server.port, keys.batched, file))
      const growth = (server.memory({ reset: false }).peak - before) / 2 ** 20
      context.log(`a batch of the same: ${batched.toFixed(1)} s`)
      const wrong = await withClient(service.postgres.url, async (client) => {
        await expectedTable(client, file)
        return differences(client, '2')
      })
      const ratio = batched / imported
      return {
        value: `${ratio.toFixed(2)}, + ${growth.toFixed(1)} MB (${wrong} wrong)`,
        samples: records,
        ok: ratio <= ratioMax && growth <= growthMbMax && wrong === 0,
      }
    } finally {
      rmSync(file, { force: true })
      await service.stop()
    }
  },
}

/** The first requests load code and open connections. */
async function warmUp(port: number, key: string, records: number): Promise<void> {
  const client = new Client(1)
  for (let n = 0; n < 300; n++) {
    const response = await client.send({
      port,
      path: `${path}?limit=1000&page=${1 + (n % Math.ceil(records / 1000))}`,
      headers: headersFor('imported', key),
    })
    if (response.status !== 200) throw new Error(`${response.status} ${response.text.slice(0, 300)}`)
  }
  client.close()
}

async function sendBatch(port: number, key: string, file: string): Promise<void> {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: `${path}/batch`,
    headers: [...headersFor('batched', key), 'Content-Type', 'text/csv', 'Transfer-Encoding', 'chunked'],
  })
  const result = new Promise<string>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
  })
  await pipeline(createReadStream(file), outgoing)
  const text = await result
  if (!text.startsWith('{"$end"')) throw new Error(text.slice(0, 300))
}
