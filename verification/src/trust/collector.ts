import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'

export interface Collector {
  readonly endpoint: string
  readonly batches: () => number
  readonly stop: () => void
}

/** An OTLP endpoint that counts batches of traces and writes them to a file. */
export async function startCollector(file = '/dev/null'): Promise<Collector> {
  const out = createWriteStream(file)
  let batches = 0
  const server = createServer((request, response) => {
    const receive = async () => {
      out.write(`${await text(request)}\n`)
      if (request.url === '/v1/traces') batches++
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    }
    receive().catch(() => response.destroy())
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.close()
    server.closeAllConnections()
    out.end()
  }
  return { endpoint: `http://127.0.0.1:${port}`, batches: () => batches, stop }
}
