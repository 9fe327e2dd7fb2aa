import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { cloneDatabase } from '../../../server/src/cli/database/temporary-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check } from '../../../verification/src/check.ts'
import { bareCopy, differences, expectedTable, seconds } from '../../../verification/src/import/bare-copy.ts'
import { writeProducts } from '../../../verification/src/import/files.ts'
import { Service } from '../../../verification/src/service.ts'

const ratioMin = 0.5

/** COPY and import of the same file on one PostgreSQL server, each into an empty table with the same indexes. */
export const importRate: Check = {
  name: 'import_rate',
  bound: `≥ ${ratioMin} × plain COPY`,
  async run(context) {
    const records = context.size(1_000_000, 50_000)
    const service = await Service.start({ shared_buffers: '1GB', max_wal_size: '8GB' })
    const file = join(service.folder, 'products.csv')
    try {
      await writeProducts(file, records, context.seed)
      const bareUrl = await cloneDatabase(service.postgres.url, 'bare', 'postgres')
      await service.command(['account', 'create', 'acme'])
      const bare = await withClient(bareUrl, (client) => bareCopy(client, file))
      context.log(`COPY of ${records} products: ${bare.toFixed(1)} s`)
      const imported = await seconds(() => service.command(['import', 'product', file, '--account', 'acme']))
      context.log(`quartermaster import of the same: ${imported.toFixed(1)} s`)
      const wrong = await withClient(service.postgres.url, async (client) => {
        await expectedTable(client, file)
        return differences(client, '1')
      })
      const ratio = bare / imported
      const value = `${ratio.toFixed(2)} (${Math.round(records / imported)}/s, ${wrong} wrong)`
      return { value, samples: records, ok: ratio >= ratioMin && wrong === 0 }
    } finally {
      rmSync(file, { force: true })
      await service.stop()
    }
  },
}
