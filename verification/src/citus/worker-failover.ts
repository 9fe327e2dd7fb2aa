import type { Check } from '../check.ts'
import { Client, type HttpResponse } from '../client.ts'
import type { ServerProcess } from '../service.ts'
import { waitUntil } from '../wait-until.ts'
import { GrowingAccount } from './accounts.ts'
import type { CitusCluster } from './cluster.ts'
import { withCluster } from './on-citus.ts'

const one = '/api/v1/resources/partner'

/** What a client and the caches of a process have of a state. */
interface Seen {
  readonly list: HttpResponse
  readonly record: HttpResponse
  readonly cursor: string
  readonly id: string
}

/**
 * A worker fails over to a standby that lacks its last write. The next create gets the same id and version. Whatever a client or a
 * process remembers of the lost state must not be taken for the new one.
 */
export const workerFailover: Check = {
  name: 'worker_failover',
  bound: '0 false 304, stale, skipped',
  run: (context) =>
    withCluster(context, async (cluster, service) => {
      const client = new Client()
      const wrong: string[] = []
      const rounds = context.size(10, 2)
      try {
        const account = await GrowingAccount.create(service, client, 'acme')
        const servers = [await service.serve(), await service.serve()]
        for (let n = 0; n < 3; n++) await accepted(() => account.create(portOf(servers, 0)), 201)
        for (let round = 1; round <= rounds; round++) {
          context.log(`failover ${round} of ${rounds}`)
          wrong.push(...(await failOver(cluster, account, servers, round)))
        }
      } finally {
        client.close()
      }
      return {
        value: `${wrong.length} in ${rounds} failovers`,
        samples: rounds,
        ok: wrong.length === 0,
        note: wrong.slice(0, 10).join('\n'),
      }
    }),
}

async function failOver(
  cluster: CitusCluster,
  account: GrowingAccount,
  servers: readonly ServerProcess[],
  round: number,
): Promise<string[]> {
  const [first, second] = [portOf(servers, 0), portOf(servers, 1)]
  const primary = await cluster.workerOf(account.name)
  const standby = await cluster.nodes.baseBackup(primary, `standby${round}`, { standby: true })
  await cluster.startAgain(standby)
  await standby.caughtUpWith(primary)
  await standby.disconnectFromPrimary()
  await accepted(() => account.create(first), 201)
  // Both processes have the lost state in their caches.
  const lost = [await see(account, first), await see(account, second)]
  await cluster.replaceWorker(primary, standby)
  await accepted(() => account.create(first), 201)
  const wrong: string[] = []
  for (const [n, port] of [first, second].entries()) {
    const before = lost[n]
    if (before === undefined) continue
    wrong.push(...(await compare(account, port, before)).map((fault) => `round ${round}: ${fault}`))
  }
  return wrong
}

async function see(account: GrowingAccount, port: number): Promise<Seen> {
  const list = await accepted(() => account.get(port, `${one}?limit=100`), 200)
  const { data }: { data: readonly { id: number }[] } = JSON.parse(list.text)
  const id = String(data.at(-1)?.id)
  const record = await accepted(() => account.get(port, `${one}/${id}`), 200)
  const feed = await accepted(() => account.get(port, `${one}/changes?limit=1000`), 200)
  const { cursor }: { cursor: string } = JSON.parse(feed.text)
  return { list, record, cursor, id }
}

/** The account has a record with the id and version of the lost one, and another content. */
async function compare(account: GrowingAccount, port: number, lost: Seen): Promise<string[]> {
  const wrong: string[] = []
  const now = await see(account, port)
  if (now.id !== lost.id) wrong.push(`the id ${lost.id} was not used again, but ${now.id}`)
  if (now.list.text === lost.list.text) wrong.push('the list has the lost record')
  if (now.record.text === lost.record.text) wrong.push('the record is the lost one')
  const conditions = [
    [`${one}?limit=100`, lost.list],
    [`${one}/${lost.id}`, lost.record],
  ] as const
  for (const [path, { headers }] of conditions) {
    const etag = String(headers['etag'])
    const { status } = await account.get(port, path, ['If-None-Match', etag])
    if (status !== 200) wrong.push(`${path}: ${status} for the ETag of the lost state`)
  }
  const feed = await account.get(port, `${one}/changes?since=${encodeURIComponent(lost.cursor)}`)
  const hasRecord = feed.status === 200 && feed.text.includes(`"id":${lost.id},`)
  if (feed.status !== 410 && !hasRecord)
    wrong.push(`the cursor of the lost state: ${feed.status} ${feed.text.slice(0, 200)}`)
  return wrong
}

/** Sends again while the database is unavailable. */
async function accepted(send: () => Promise<HttpResponse>, status: number): Promise<HttpResponse> {
  let response: HttpResponse | undefined
  await waitUntil(async () => {
    response = await send()
    return response.status !== 503
  })
  if (response?.status !== status) throw new Error(`${response?.status} ${response?.text.slice(0, 300)}`)
  return response
}

function portOf(servers: readonly ServerProcess[], n: number): number {
  return servers[n]?.port ?? 0
}
