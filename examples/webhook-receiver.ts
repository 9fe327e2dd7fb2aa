import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
const toleranceSeconds = 300
const bytesMax = 1024 * 1024

interface Change {
  readonly change: 'created' | 'updated' | 'deleted' | 'removed'
  readonly id: number
  readonly version: number
  readonly record?: Readonly<Record<string, unknown>>
}

interface Message {
  readonly type: string
  readonly data: { readonly challenge?: string; readonly changes?: readonly Change[] }
}

/** Your copy: the last version of each record. Use a table of your database, and one transaction per message. */
const copy = new Map<number, { readonly version: number; readonly record: Change['record'] }>()

function apply({ change, id, version, record }: Change): void {
  // A retry may arrive after a newer message.
  if ((copy.get(id)?.version ?? 0) > version) return
  copy.set(id, { version, record })
  console.log(`${change} ${id} at version ${version}`)
}

/** Whether the message is from Quartermaster, unchanged and recent. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const timestamp = Number(headers['webhook-timestamp'])
  if (!(Math.abs(Date.now() / 1000 - timestamp) < toleranceSeconds)) return false
  const signed = `${String(headers['webhook-id'])}.${timestamp}.${body}`
  const expected = createHmac('sha256', key).update(signed).digest()
  // While a secret is rotated there are two signatures, separated by a space.
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'))
    .some((received) => received.length === expected.length && timingSafeEqual(received, expected))
}

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    body += chunk
    if (body.length > bytesMax) request.destroy()
  })
  request.on('end', () => {
    if (!isGenuine(request.headers, body)) {
      response.writeHead(401).end()
      return
    }
    const { data }: Message = JSON.parse(body)
    for (const change of data.changes ?? []) apply(change)
    // A challenge is returned; every other message needs only a status of 2xx.
    response.writeHead(200).end(data.challenge ?? '')
  })
})

server.listen(Number(process.env['PORT'] ?? 4000), () => console.log('waiting for messages'))
