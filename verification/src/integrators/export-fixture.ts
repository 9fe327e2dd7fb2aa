import { type IncomingMessage, request } from 'node:http'
import { withClient } from '../../../server/src/postgres/client.ts'
import { type Context, type Stoppable, shared } from '../check.ts'
import { fill, largeAccount } from '../plans/data.ts'
import { type ServerProcess, Service } from '../service.ts'

/** One large account, one server process, and a function that opens an export. */
export interface ExportFixture extends Stoppable {
  readonly url: string
  readonly accountId: string
  readonly records: number
  readonly server: ServerProcess
  /** Opens a list of products. */
  readonly open: (query: string, headers: Readonly<Record<string, string>>) => Promise<IncomingMessage>
}

export const exportFixture = shared(async (context: Context): Promise<ExportFixture> => {
  const service = await Service.start({ shared_buffers: '1GB', max_wal_size: '8GB', autovacuum: 'off' })
  const records = context.size(1_000_000, 50_000)
  const { url } = service.postgres
  await withClient(url, (client) => fill(client, 'varied', records, 10))
  const name = `account-${largeAccount}`
  const key = await service.key(name)
  const server = await service.serve()
  return {
    url,
    accountId: largeAccount,
    records,
    server,
    open: (query, headers) => openList(server.port, name, key, query, headers),
    stop: () => service.stop(),
  }
})

export function openList(
  port: number,
  account: string,
  key: string,
  query: string,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `/api/v1/inventory/product${query}`
    const all = { host: `${account}.localhost`, authorization: `Bearer ${key}`, ...headers }
    request({ host: '127.0.0.1', port, path, headers: all, agent: false }, (response) => {
      if (response.statusCode === 200) resolve(response)
      else reject(new Error(`${path}: status ${response.statusCode}`))
    })
      .once('error', reject)
      .end()
  })
}

/** Reads to the end and returns the size. Throws if the body is truncated. */
export async function drained(body: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}
