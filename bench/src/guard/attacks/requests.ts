import { Agent, type ClientRequest, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../../load/fixture.ts'
import type { Target } from './attack.ts'

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

function start(
  { port }: Target,
  { host, key }: Caller,
  { method = 'GET', path, headers = {} }: Sent,
): ClientRequest {
  return request({
    agent,
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { host, authorization: `Bearer ${key}`, ...headers },
  })
}

/** Sends a request and reads its response; resolves to its status, 0 without a response. */
export function ask(target: Target, caller: Caller, sent: Sent): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const sending = start(target, caller, sent)
    sending.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        if (text.length < 10_000) text += part
      })
      response.once('close', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', () => {})
    })
    sending.once('error', () => resolve({ status: 0, text: '' }))
    sending.end(sent.body)
  })
}

/** Each of the connections sends one request after the other. A rejected one is repeated at once, as no fair client would. */
export async function flood(
  target: Target,
  signal: AbortSignal,
  connections: number,
  next: (n: number, connection: number) => Sent,
  caller: Caller = target.attacker,
): Promise<void> {
  let n = 0
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      while (!signal.aborted) {
        const { status } = await ask(target, caller, next(n++, connection))
        // Without a response, the client's own loop would take the processor from the account that is measured.
        if (status === 0) await sleep(20)
      }
    }),
  )
}

/** Opens responses that are never read to their end, if `reads` is false not at all, and opens each again when it ends. */
export async function hold(
  target: Target,
  signal: AbortSignal,
  count: number,
  next: (n: number) => Sent,
  { reads = true } = {},
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await sleep(n % 500)
      while (!signal.aborted) {
        await new Promise<void>((resolve) => {
          const sending = start(target, target.attacker, next(n))
          const end = () => sending.destroy()
          signal.addEventListener('abort', end, { once: true })
          sending.once('response', (response) => {
            if (reads) response.resume()
            response.on('error', () => {})
          })
          sending.once('error', () => {})
          sending.once('close', () => {
            signal.removeEventListener('abort', end)
            resolve()
          })
          sending.end()
        })
        await sleep(20)
      }
    }),
  )
}

/** Sends batches whose body has no end, as fast as the service reads, and starts again when one is rejected. */
export async function endless(
  target: Target,
  signal: AbortSignal,
  batches: number,
  path: string,
  part: (n: number, batch: number) => string,
): Promise<void> {
  await Promise.all(
    Array.from({ length: batches }, async (_, batch) => {
      let n = 0
      while (!signal.aborted) {
        await new Promise<void>((resolve) => {
          const sending = start(target, target.attacker, {
            method: 'POST',
            path,
            headers: { 'content-type': 'application/x-ndjson', 'transfer-encoding': 'chunked' },
          })
          let isOpen = true
          sending.once('response', (response) => {
            response.resume()
            response.on('error', () => {})
            response.once('close', () => sending.destroy())
          })
          sending.once('error', () => {})
          sending.once('close', () => {
            isOpen = false
            resolve()
          })
          const write = () => {
            if (signal.aborted) sending.destroy()
            else if (isOpen && sending.write(part(n++, batch))) setImmediate(write)
            else if (isOpen) sending.once('drain', write)
          }
          write()
        })
        await sleep(20)
      }
    }),
  )
}

/** Plain connections that stay open until the signal; each sends `text` at once, and `again` every second. */
export async function keepOpen(
  { port }: Target,
  signal: AbortSignal,
  count: number,
  text: string,
  again?: string,
): Promise<void> {
  const open = new Set<Socket>()
  for (let n = 0; n < count && !signal.aborted; n++) {
    const socket = connect(port, '127.0.0.1')
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    socket.on('data', () => {})
    socket.write(text)
    if (n % 100 === 99) await sleep(10)
  }
  while (!signal.aborted) {
    await sleep(1_000, undefined, { signal }).catch(() => {})
    if (again !== undefined) for (const socket of open) socket.write(again)
  }
  for (const socket of open) socket.destroy()
}
