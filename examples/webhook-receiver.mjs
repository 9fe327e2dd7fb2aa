/** Receives webhooks of Quartermaster with Node alone: verifies the signature, and keeps the last version of each record. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const key = Buffer.from(String(process.env['WEBHOOK_SECRET']).replace(/^whsec_/, ''), 'base64')
const toleranceSeconds = 300
const bytesMax = 1024 * 1024

// Your copy. Use a table of your database, and one transaction per message.
const copy = new Map()

function apply({ change, id, version, record }) {
  // A retry may arrive after a newer message.
  if ((copy.get(id)?.version ?? 0) > version) return
  copy.set(id, { version, record })
  console.log(`${change} ${id} at version ${version}`)
}

/** Whether the message is from Quartermaster, unchanged and recent. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': received = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  // While a secret is rotated there are two signatures, separated by a space.
  return received.split(' ').some((one) => {
    const signature = Buffer.from(one.replace(/^v1,/, ''), 'base64')
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
}

/** The status and the text of the response. */
async function receive(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) return [413, '']
  }
  // The bytes as they were received: the signature is of these.
  const body = Buffer.concat(chunks)
  if (!isGenuine(request.headers, body)) return [401, '']
  const { data } = JSON.parse(body.toString())
  for (const change of data.changes ?? []) apply(change)
  // A challenge is returned; every other message needs only a status of 2xx.
  return [200, data.challenge ?? '']
}

const server = createServer((request, response) => {
  receive(request).then(
    ([status, text]) => response.writeHead(status).end(text),
    // The service sends the message again.
    () => response.writeHead(500).end(),
  )
})

server.listen(Number(process.env['PORT'] ?? 4000), () => console.log('waiting for messages'))
