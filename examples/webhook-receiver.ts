import { createServer, type IncomingMessage } from 'node:http'
import { type DeliveredChange, type Product, verifyWebhook, WebhookInvalid } from '@quartermaster/client'

/** While a secret is rotated, both, separated by a comma. */
const secrets = (process.env['WEBHOOK_SECRET'] ?? '').split(',')
const bytesMax = 1024 * 1024

/** Your copy: the last version of each record. Use a table of your database, and one transaction per message. */
const copy = new Map<number, { readonly version: number; readonly record: Partial<Product> | undefined }>()

function apply(change: DeliveredChange<Partial<Product>>): void {
  const { id, version } = change
  // A retry may arrive after a newer message.
  if ((copy.get(id)?.version ?? 0) > version) return
  copy.set(id, { version, record: 'record' in change ? change.record : undefined })
  console.log(`${change.change} ${id} at version ${version}`)
}

/** The bytes as they were received: the signature is of these. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    chunks.push(Buffer.from(chunk))
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error('The message is too large.')
  }
  return Buffer.concat(chunks)
}

/** The text of the response. */
async function receive(request: IncomingMessage): Promise<string> {
  const event = await verifyWebhook(request.headers, await bodyOf(request), secrets)
  // A challenge is returned; every other message needs only a status of 2xx.
  if (event.type === 'webhook.challenge') return event.data.challenge
  if (event.type === 'product.changed') for (const change of event.data.changes) apply(change)
  return ''
}

const server = createServer((request, response) => {
  receive(request).then(
    (text) => response.writeHead(200).end(text),
    // 401 for a forgery. After any other failure the service sends the message again.
    (error: unknown) => response.writeHead(error instanceof WebhookInvalid ? 401 : 500).end(),
  )
})

server.listen(Number(process.env['PORT'] ?? 4000), () => console.log('waiting for messages'))
