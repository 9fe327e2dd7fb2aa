import { importRecords } from '../../../../server/src/import/import-records.ts'
import { limits } from '../../../../server/src/limits/limits.ts'
import { Client, headersFor } from '../../client.ts'
import { inParallel } from '../../parallel.ts'
import type { Cluster, ServerNode } from '../cluster/cluster.ts'
import { port } from '../cluster/ports.ts'

/** What the response cache counts at least for a response. */
const responseBytesMin = 1_024

/** Requests more lists than a process caches, so that its memory does not grow because its caches fill. */
export async function fillCaches(cluster: Cluster): Promise<void> {
  // A check may run again on the same cluster.
  const account = `soak-caches-${Date.now()}`
  const key = await cluster.account(account)
  const records = Array.from({ length: 100 }, (_, n) => ({ id: n + 1, name: `p ${n}` }))
  await importRecords({ ownerUrl: cluster.ownerUrl, account, resource: 'product', records })
  await Promise.all(cluster.servers.map((server) => fillCachesOf(server, headersFor(account, key))))
}

async function fillCachesOf({ namespace }: ServerNode, headers: readonly string[]): Promise<void> {
  const client = new Client(8)
  const request = async (n: number, page: number) => {
    const path = `/api/v1/inventory/product?limit=1&page=${page}&filter=list_price<${n}`
    const target = { address: namespace.address, port, path, headers }
    const { status, text } = await client.sendUntilAccepted(target)
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
  }
  try {
    const responses = Math.max(limits.listsCached, limits.responseCacheBytesMax / responseBytesMin)
    await inParallel(responses, 8, (n) => request(n, 1))
    // A plan is cached on its second request. Another page of the list has the same plan, and no cached response.
    await inParallel(limits.plansCached, 8, async (n) => {
      await request(n, 2)
      await request(n, 3)
    })
  } finally {
    client.close()
  }
}
