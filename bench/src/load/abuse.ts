import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { inParallel } from '../../../verification/src/parallel.ts'
import { type Caller, encoded, type Fixture, loadFixture, ms, products, withServers } from './fixture.ts'
import { type Load, otherStatuses, runLoad, withStatus } from './load.ts'

const tenMegabytes = Buffer.alloc(10 * 1024 * 1024, 'x')
const partners = '/api/v1/resources/partner'
/** The service closes slow-loris connections after 10 s. */
const closedMsMax = 15_000

/** Slow, oversized, invalid and aborted requests at the same time, while other accounts send a normal load. */
export const abuse: Check = {
  name: 'abuse',
  bound: 'expected 4xx, 0 left open, ≤ 1.5 × alone (quick: 20 ×)',
  async run(context) {
    const fixture = await loadFixture(context)
    return await withServers(fixture, 2, {}, async ([server, neighbour]) => {
      const port = server?.port ?? 0
      const seconds = context.size(40, 14)
      const calm = { ...calmLoad(fixture, port), seconds }
      await runLoad({ ...calm, seconds: 3 })
      const unloaded = await runLoad(calm)
      const before = openSockets(port)
      const attack = attackOn(context, fixture, port, seconds)
      const loaded = await runLoad({ ...calm, start: 100_000 })
      const wrong = await attack
      const left = await leftBehind(fixture, port, before)
      // The same attack on another process, which shares only the CPUs, to separate the effect of a busy machine.
      const elsewhere = attackOn(context, fixture, neighbour?.port ?? 0, seconds)
      const apart = withStatus(await runLoad({ ...calm, start: 200_000 }), 200)
      wrong.push(...(await elsewhere))

      const [baseline, during] = [withStatus(unloaded, 200), withStatus(loaded, 200)]
      const ratio = during.p99Ms / baseline.p99Ms
      const errors = otherStatuses(loaded, 200)
      return {
        value: `${wrong.length} wrong, ${left.length} left open, ${ratio.toFixed(2)} × (${ms(baseline.p99Ms)} → ${ms(during.p99Ms)})`,
        samples: Math.min(baseline.count, during.count),
        ok: wrong.length === 0 && left.length === 0 && errors === '' && ratio <= context.size(1.5, 20),
        note: [
          `medians ${ms(baseline.p50Ms)} → ${ms(during.p50Ms)}`,
          `with the attack on another process of this machine p99 is ${ms(apart.p99Ms)}: ` +
            `${(apart.p99Ms / baseline.p99Ms).toFixed(2)} × alone; attacked itself, ${(during.p99Ms / apart.p99Ms).toFixed(2)} × of that`,
          ...wrong.slice(0, 5),
          ...left.slice(0, 5),
          ...(errors === '' ? [] : [`other accounts got ${errors}`]),
        ].join('\n'),
      }
    })
  },
}

function calmLoad({ small }: Fixture, port: number): Load {
  const requests = small.map((caller) => ({
    ...caller,
    path: `${products}?limit=20&filter=${encoded('list_price<{n}')}`,
  }))
  return { ports: [port], rate: 50, seconds: 1, connectionsMax: 64, connectionsReady: 16, requests, start: 1 }
}

/** Returns the attacks that got an unexpected response. */
async function attackOn(
  context: Context,
  fixture: Fixture,
  port: number,
  seconds: number,
): Promise<string[]> {
  const caller = fixture.small[0]
  if (caller === undefined) throw new Error('no account')
  const found = await Promise.all([
    slowLoris(port, context.size(1_000, 200)),
    repeated(seconds, context.size(100, 20), () =>
      status(port, head(caller, 'GET', `${products}?filter=name=${'x'.repeat(17 * 1024)}`), '414'),
    ),
    repeated(seconds, context.size(50, 10), () =>
      status(port, Buffer.concat([Buffer.from(bodyHead(caller)), tenMegabytes]), '413'),
    ),
    repeated(seconds, context.size(200, 50), () =>
      status(port, head(caller, 'GET', `${products}?page=1e9`), '400'),
    ),
    aborts(port, caller, context.size(10_000, 500), seconds),
  ])
  return found.flat()
}

/** Repeats `one` at regular intervals during the measurement. */
async function repeated(seconds: number, times: number, one: () => Promise<string[]>): Promise<string[]> {
  const wrong: string[] = []
  const began = performance.now()
  for (let n = 0; n < times; n++) {
    wrong.push(...(await one()))
    await sleep(Math.max(1, began + (seconds * 1000 * n) / times - performance.now()))
  }
  return wrong
}

/** Opens all connections, sends a header on each every 3 s, and waits until the service closes each. */
async function slowLoris(port: number, count: number): Promise<string[]> {
  const wrong: string[] = []
  await inParallel(count, count, async (n) => {
    await sleep(n * 2)
    const { socket, closed } = openSocket(port)
    const began = performance.now()
    socket.write(`GET ${products} HTTP/1.1\r\nHost: account-2.localhost\r\n`)
    const drip = setInterval(() => socket.write(`X-${n}: 1\r\n`), 3000)
    const late = setTimeout(() => socket.destroy(), closedMsMax + 5_000)
    const text = await closed
    clearInterval(drip)
    clearTimeout(late)
    const took = performance.now() - began
    if (!text.startsWith('HTTP/1.1 400 ')) wrong.push(`slow loris: ${text.slice(0, 40) || 'no response'}`)
    if (took > closedMsMax) wrong.push(`slow loris connection open for ${ms(took)}`)
  })
  return wrong
}

/** Requests whose client disconnects at once, or while they are processed. */
async function aborts(port: number, caller: Caller, count: number, seconds: number): Promise<string[]> {
  const began = performance.now()
  await inParallel(count, 8, async (n) => {
    await sleep(Math.max(1, began + (seconds * 1000 * n) / count - performance.now()))
    const { socket, closed } = openSocket(port)
    socket.write(head(caller, 'GET', `${products}?filter=${encodeURIComponent(`name!*q${n}`)}`))
    await sleep(n % 3 === 0 ? 0 : n % 20)
    socket.destroy()
    await closed
  })
  return []
}

async function status(port: number, message: string | Buffer, expected: string): Promise<string[]> {
  const { socket, closed } = openSocket(port)
  socket.write(message)
  socket.on('data', () => socket.end())
  const text = await closed
  return text.slice(9, 12) === expected ? [] : [`${expected}: ${text.slice(0, 60) || 'no response'}`]
}

const head = ({ host, key }: Caller, method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`

const bodyHead = (caller: Caller) =>
  head(caller, 'POST', partners, `Content-Type: application/json\r\nContent-Length: ${10 * 1024 * 1024}\r\n`)

function openSocket(port: number): { socket: Socket; closed: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => {})
  return { socket, closed: new Promise((resolve) => socket.once('close', () => resolve(text))) }
}

/** New connections to the port, and running statements, that remain after the attack. */
async function leftBehind({ service }: Fixture, port: number, before: readonly string[]): Promise<string[]> {
  const until = performance.now() + 5_000
  for (;;) {
    const sockets = openSockets(port).filter((one) => !before.includes(one))
    const found = [...sockets, ...(await runningStatements(service.postgres.url))]
    if (found.length === 0 || performance.now() > until) return found
    await sleep(200)
  }
}

/** Established connections, seen from the server. */
function openSockets(port: number): string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, from = '', , state]) => from.endsWith(local) && state === '01')
    .map(([, , to]) => `a connection from ${to}`)
}

async function runningStatements(url: string): Promise<string[]> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ query: string }>(
      `select left(query, 60) as query from pg_stat_activity
       where application_name = 'quartermaster' and state <> 'idle' and pid <> pg_backend_pid()`,
    )
    return rows.map(({ query }) => `a statement: ${query}`)
  })
}
