import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { Client } from '../client.ts'
import { Random } from '../random.ts'
import { send } from './writers.ts'

const open: { server: Server; client: Client }[] = []
afterEach(() => {
  for (const { server, client } of open.splice(0)) {
    client.close()
    server.close()
  }
})

/** A server that sends these responses, one after the other. Returns what it received, and how to send to it. */
async function responding(...responses: readonly (readonly [number, string])[]) {
  const received: string[] = []
  const server = createServer((request, response) => {
    const [status, body] = responses[received.length] ?? [404, '']
    received.push(`${request.method} ${String(request.headers['idempotency-key'])}`)
    request.resume()
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const client = new Client()
  open.push({ server, client })
  const to = { client, ports: [port], random: new Random(1) }
  return { received, sent: (what: Parameters<typeof send>[2]) => send({ name: 'acme', key: 'k' }, to, what) }
}

const unknown = [503, '{"code":"outcome_unknown"}'] as const

it('sends a write with a key again, with the same key, until its outcome is known', async () => {
  const running = [409, '{"code":"idempotency_conflict"}'] as const
  const { received, sent } = await responding(unknown, running, unknown, [201, 'created'])
  expect(await sent({ method: 'POST', path: '/', key: 'a', expected: 201 })).toBe('created')
  expect(received).toEqual(['POST a', 'POST a', 'POST a', 'POST a'])
})

it('sends a batch again, also if only its last rows are unconfirmed', async () => {
  const { received, sent } = await responding(
    unknown,
    [200, '{"$error":{"code":"outcome_unknown"}}'],
    [200, '{"$end":{}}'],
  )
  let repeats = 0
  const onRepeat = () => (repeats += 1)
  const batch = { method: 'POST', path: '/batch', isRepeatable: true, expected: 200, onRepeat }
  expect(await sent(batch)).toBe('{"$end":{}}')
  expect([received.length, repeats]).toEqual([3, 2])
})

it('never repeats what may be written twice, and hides no other failure', async () => {
  const create = { method: 'POST', path: '/', expected: 201 }
  const first = await responding(unknown, [201, 'a second record'])
  await expect(first.sent(create)).rejects.toThrow('outcome_unknown')
  expect(first.received).toHaveLength(1)
  const second = await responding([409, '{"code":"idempotency_conflict"}'])
  await expect(second.sent({ ...create, key: 'a' })).rejects.toThrow('409')
})
