import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** Clients that send too much, too slowly, or incomplete requests, over a raw socket. */

/** Shortened: two tests wait for them. */
const receiving = { headersReceiveMsMax: 1_000, requestReceiveMsMax: 2_000 }
const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

const { client, service } = await freshService({}, receiving)
const acme = await account(client, 'acme')

interface Exchange {
  readonly socket: Socket
  /** Everything received until the connection was closed, and the milliseconds until then. */
  readonly closed: Promise<{ text: string; ms: number }>
}

function openSocket(): Promise<Exchange> {
  const started = performance.now()
  const socket = connect(service.port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => {})
  const closed = new Promise<{ text: string; ms: number }>((resolve) => {
    socket.once('close', () => resolve({ text, ms: performance.now() - started }))
  })
  return new Promise((resolve) => socket.once('connect', () => resolve({ socket, closed })))
}

const head = (method: string, path: string, ...more: string[]) =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: acme.localhost',
    `Authorization: Bearer ${acme.key}`,
    ...more,
    '',
    '',
  ].join('\r\n')

async function responseTo(message: string): Promise<string> {
  const { socket, closed } = await openSocket()
  socket.write(message)
  return (await closed).text
}

describe('too much', () => {
  it('a URL of 17 KB is a 414, one of 40 KB a 431; both close the connection', async () => {
    const long = (bytes: number) => `${products}?filter=name=${'x'.repeat(bytes)}`
    expect(await responseTo(head('GET', long(17 * 1024)))).toMatch(/^HTTP\/1\.1 414 [\s\S]*"url_too_long"/)
    expect(await responseTo(head('GET', long(40 * 1024)))).toMatch(
      /^HTTP\/1\.1 431 [\s\S]*"headers_too_large"/,
    )
  })

  it.each([
    ['with its length', 'Content-Length: 10485760', ''],
    ['in chunks', 'Transfer-Encoding: chunked', '10000\r\n'],
  ])('a body of 10 MB %s is a 413, and is not read to its end', async (_, header, chunkHead) => {
    const { socket, closed } = await openSocket()
    socket.write(head('POST', partners, 'Content-Type: application/json', header))
    const chunk = `${chunkHead}${'x'.repeat(65_536)}${chunkHead === '' ? '' : '\r\n'}`
    let sent = 0
    const send = () => {
      while (sent < 160 && socket.writable) {
        sent++
        if (!socket.write(chunk)) return
      }
    }
    socket.on('drain', send)
    send()
    const { text } = await closed
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than 65536 bytes, the maximum[\s\S]*"body_too_large"/)
    expect(sent).toBeLessThan(160)
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
  })

  it('an invalid page number is a 400; a page far after the last is empty', async () => {
    expect((await service.request(acme, 'GET', `${products}?page=1e9`)).body).toMatchObject({
      errors: [{ code: 'page_invalid' }],
    })
    const far = await service.request(acme, 'GET', `${products}?page=1000000000&limit=1000`)
    expect(far).toMatchObject({ status: 200, body: { data: [], pagination: { nextPage: null } } })
  })
})

describe('too slow', () => {
  it('incomplete headers are a 400 at the timeout, and the connection is closed', async () => {
    const { socket, closed } = await openSocket()
    socket.write(`GET ${products} HTTP/1.1\r\nHost: acme.localhost\r\n`)
    const drip = setInterval(() => socket.write('X-Slow: 1\r\n'), 100)
    const unused = await openSocket()
    const { text, ms } = await closed
    clearInterval(drip)
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*not received in time/)
    expect(ms).toBeGreaterThanOrEqual(receiving.headersReceiveMsMax)
    // A preconnected socket without a request, as of browsers and proxies, is closed without a response.
    expect((await unused.closed).text).toBe('')
  })

  it('the connection of an incomplete body is closed at the timeout', async () => {
    const { socket, closed } = await openSocket()
    socket.write(head('POST', partners, 'Content-Type: application/json', 'Content-Length: 100'))
    const drip = setInterval(() => socket.write('{'), 100)
    const { ms } = await closed
    clearInterval(drip)
    expect(ms).toBeGreaterThanOrEqual(receiving.requestReceiveMsMax)
  })
})

it('requests with a body on one connection leave no listeners behind', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  try {
    for (let n = 0; n < 30; n++) await service.post(acme, partners, { name: `Partner ${n}` })
    await sleep(1)
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', onWarning)
  }
})

it('clients that disconnect leave no busy connection and no statement behind', async () => {
  for (let n = 0; n < 200; n++) {
    const { socket } = await openSocket()
    socket.write(head('GET', `${products}?filter=name*${n % 7}`))
    if (n % 2 === 0) await sleep(1)
    socket.destroy()
  }
  await eventually(async () => {
    const { rows } = await client.query<{ state: string }>(
      `select state from pg_stat_activity where application_name = 'quartermaster' and datname = current_database()`,
    )
    return rows.length > 0 && rows.every(({ state }) => state === 'idle')
  })
  expect((await service.request(acme, 'GET', products)).status).toBe(200)
  expect(service.events.filter(({ kind }) => kind === 'request-failed')).toEqual([])
})
