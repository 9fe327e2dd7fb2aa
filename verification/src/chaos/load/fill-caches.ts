import { importRecords } from '../../../../server/src/import/import-records.ts'
import { limits } from '../../../../server/src/limits.ts'
import { Client, headersFor } from '../../client.ts'
import { inParallel } from '../../parallel.ts'
import type { Cluster, ServerNode } from '../cluster/cluster.ts'
import { port } from '../cluster/ports.ts'

/** What the response cache counts at least for a response. */
const responseBytesMin = 1_024
const account = 'soak-caches'

/** Requests more lists than a process caches, so that its memory does not grow because its caches fill. */
export async function fillCaches(cluster: Cluster): Promise<void> {
  const key = await cluster.account(account)
  const records = Array.from({ length: 100 }, (_, n) => ({ id: n + 1, name: `p ${n}` }))
  await importRecords({ ownerUrl: cluster.ownerUrl, account, resource: 'product', records })
  await Promise.all(cluster.servers.map((server) => fillCachesOf(server, headersFor(account, key))))
}

async function fillCachesOf({ namespace }: ServerNode, headers: readonly string[]): Promise<void> {
  const client = new Client(8)
  const count = Math.max(limits.listsCached, limits.responseCacheBytesMax / responseBytesMin)
  try {
    await inParallel(count, 8, async (n) => {
      const path = `/api/v1/inventory/product?limit=1&filter=list_price<${n}`
      const { status, text } = await client.sendUntilAccepted({
        address: namespace.address,
        port,
        path,
        headers,
      })
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
    })
  } finally {
    client.close()
  }
}
