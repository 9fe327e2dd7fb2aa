import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Load, LoadRequest, LoadResult, StatusSummary } from './load.ts'

/** Uses plain sockets: an HTTP library would use as much CPU time as the service needs for the requests. */

const drainMsMax = 15_000
const tickMs = 2
/** The headers of a response must fit into this; the rest is only counted. */
const headBytesMax = 2_048

class Connection {
  readonly #socket: Socket
  readonly #ended: (connection: Connection, status: number, ms: number) => void
  #head = ''
  #status = 0
  #bodyLeft = -1
  #sentAt = 0
  readonly opened: Promise<unknown>
  isBusy = false
  isBroken = false

  constructor(port: number, ended: (connection: Connection, status: number, ms: number) => void) {
    this.#ended = ended
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.opened = new Promise((resolve) => this.#socket.once('connect', resolve))
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.isBroken = true
      if (this.isBusy) this.#end(0)
    })
  }

  send(message: string): void {
    this.isBusy = true
    this.#sentAt = performance.now()
    this.#socket.write(message)
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    let length = chunk.length
    if (this.#bodyLeft < 0) {
      const before = this.#head.length
      this.#head += chunk.toString('latin1', 0, headBytesMax)
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      this.#status = Number(this.#head.slice(9, 12))
      this.#bodyLeft = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? 0)
      if (/\r\nconnection: close/i.test(this.#head)) this.isBroken = true
      length = before + chunk.length - end - 4
    }
    this.#bodyLeft -= length
    if (this.#bodyLeft <= 0) this.#end(this.#status)
  }

  #end(status: number): void {
    const ms = performance.now() - this.#sentAt
    this.#head = ''
    this.#bodyLeft = -1
    this.isBusy = false
    this.#ended(this, status, ms)
  }
}

async function run({
  ports,
  rate,
  seconds,
  connectionsMax,
  connectionsReady: ready = 0,
  requests,
  start = 0,
}: Load): Promise<LoadResult> {
  const free: Connection[][] = ports.map(() => [])
  const connections = new Set<Connection>()
  const times = new Map<number, number[]>()
  let [sent, unsent, busy, nextPort] = [0, 0, 0, 0]
  const messages = requests.map((request) => {
    if (JSON.stringify(request).includes('{n}')) return (n: number) => messageOf(request, String(n))
    const message = messageOf(request, '')
    return () => message
  })

  const open = (at: number): Connection => {
    const connection = new Connection(ports[at] ?? 0, (one, status, ms) => {
      busy--
      const of = times.get(status) ?? []
      times.set(status, of)
      of.push(ms)
      if (one.isBroken) {
        connections.delete(one)
        one.close()
      } else free[at]?.push(one)
      if (rate === 0 && performance.now() < until) send()
    })
    connections.add(connection)
    return connection
  }

  const send = (): boolean => {
    const at = nextPort++ % ports.length
    // The connection that was idle for longest, because the service closes idle connections.
    let connection = free[at]?.shift()
    while (connection?.isBroken === true) connection = free[at]?.shift()
    if (connection === undefined && connections.size >= connectionsMax) return false
    connection ??= open(at)
    busy++
    const number = start + sent++
    connection.send(messages[number % messages.length]?.(number) ?? '')
    return true
  }

  let until = 0
  for (let n = 0; n < ready; n++) {
    const connection = open(n % ports.length)
    await connection.opened
    free[n % ports.length]?.push(connection)
  }
  const began = performance.now()
  until = began + seconds * 1000
  if (rate === 0) for (let n = 0; n < connectionsMax; n++) send()
  while (performance.now() < until) {
    const due = rate === 0 ? 0 : Math.floor(((performance.now() - began) / 1000) * rate)
    while (sent + unsent < due) if (!send()) unsent++
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  const took = (performance.now() - began) / 1000
  const counted = [...times].map(([status, ms]) => [String(status), ms.length] as const)
  const late = performance.now() + drainMsMax
  const isDone = () => busy === 0 || performance.now() > late
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, tickMs))
  for (const connection of connections) connection.close()
  const broken = (times.get(0)?.length ?? 0) + busy
  times.delete(0)
  const inTime = Object.fromEntries(counted)
  const byStatus = Object.fromEntries([...times].map(([status, ms]) => [String(status), summary(ms)]))
  return { seconds: took, sent, unsent, broken, byStatus, inTime }
}

function messageOf({ host, key, path, body, idempotencyKey }: LoadRequest, number: string): string {
  const filled = (text: string) => text.replaceAll('{n}', number)
  const head = [`Host: ${host}`, `Authorization: Bearer ${key}`]
  if (idempotencyKey !== undefined) head.push(`Idempotency-Key: ${filled(idempotencyKey)}`)
  const content = body === undefined ? '' : filled(body)
  if (body !== undefined) {
    head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`)
  }
  return `${body === undefined ? 'GET' : 'POST'} ${filled(path)} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${content}`
}

function summary(ms: number[]): StatusSummary {
  const sorted = Float64Array.from(ms).toSorted()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}

const [load]: Load[] = await once(process, 'message')
if (load === undefined) throw new Error('no load was received')
process.send?.(await run(load))
process.disconnect()
