import type { Check } from '../../../verification/src/check.ts'
import { drained, exportFixture } from '../../../verification/src/integrators/export-fixture.ts'

const growthMbMax = 50
const forms = [
  { accept: 'application/x-ndjson' },
  { accept: 'text/csv' },
  { accept: 'application/x-ndjson', 'accept-encoding': 'gzip' },
]

/**
 * What the server's memory grows by while it sends all products, at its peak. Held against a process that has answered
 * lists before: the first of them load code and make connections.
 */
export const exportMemory: Check = {
  name: 'export_memory',
  bound: `≤ ${growthMbMax} MB`,
  async run(context) {
    const { open, server, records } = await exportFixture(context)
    for (let page = 1; page <= 300; page++)
      await drained(await open(`?limit=1000&page=${1 + (page % Math.ceil(records / 1000))}`, {}))
    let most = 0
    for (const headers of forms) {
      const before = server.memory({ forget: true }).now
      const bytes = await drained(await open('', headers))
      const growth = (server.memory({ forget: false }).most - before) / 1024 / 1024
      context.log(
        `${Object.values(headers).join(', ')}: ${Math.round(bytes / 1e6)} MB sent, memory grew by ${growth.toFixed(1)} MB`,
      )
      most = Math.max(most, growth)
    }
    return { value: `${most.toFixed(1)} MB (${records} products)`, ok: most <= growthMbMax }
  },
}
