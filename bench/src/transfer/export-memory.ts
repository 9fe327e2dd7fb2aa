import type { Check } from '../../../verification/src/check.ts'
import { drained, exportFixture } from '../../../verification/src/integrators/export-fixture.ts'

const growthMbMax = 50
const forms = [
  { accept: 'application/x-ndjson' },
  { accept: 'text/csv' },
  { accept: 'application/x-ndjson', 'accept-encoding': 'gzip' },
]

/**
 * The peak growth of the server's memory while it sends all products. Lists are requested first, because the first requests
 * load code and open connections.
 */
export const exportMemory: Check = {
  name: 'export_memory',
  bound: `≤ ${growthMbMax} MB`,
  async run(context) {
    const { open, server, records } = await exportFixture(context)
    for (let page = 1; page <= 300; page++)
      await drained(await open(`?limit=1000&page=${1 + (page % Math.ceil(records / 1000))}`, {}))
    let peak = 0
    for (const headers of forms) {
      const before = server.memory({ reset: true }).now
      const bytes = await drained(await open('', headers))
      const growth = (server.memory({ reset: false }).peak - before) / 1024 / 1024
      context.log(
        `${Object.values(headers).join(', ')}: ${Math.round(bytes / 1e6)} MB sent, memory grew by ${growth.toFixed(1)} MB`,
      )
      peak = Math.max(peak, growth)
    }
    return { value: `${peak.toFixed(1)} MB (${records} products)`, samples: records, ok: peak <= growthMbMax }
  },
}
