import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { freePort } from '../../../server/src/cli/database/throwaway-postgres.ts'

export interface Collector {
  readonly endpoint: string
  readonly batches: () => number
  readonly stop: () => void
}

/** Takes what an exporter of traces sends, counts it, and keeps it in a file where one is named. */
export async function startCollector(file = '/dev/null'): Promise<Collector> {
  const kept = createWriteStream(file)
  let batches = 0
  const server = createServer((request, response) => {
    const take = async () => {
      kept.write(`${await text(request)}\n`)
      if (request.url === '/v1/traces') batches++
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    }
    take().catch(() => response.destroy())
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
    kept.end()
  }
  return { endpoint: `http://127.0.0.1:${port}`, batches: () => batches, stop }
}
