import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Server } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { parseNetworks } from '../src/networks.ts'
import { AddressGuard, SendError } from '../src/webhooks/address-guard.ts'
import { Sender } from '../src/webhooks/sender.ts'
import { atEnd } from './at-end.ts'
import { Authority } from './certificates.ts'
import { ChangingDns } from './changing-dns.ts'
import { hostileAddresses, notationsOf } from './hostile-addresses.ts'

/** Webhooks must never reach an address that is not public, whatever the URL, its host name or the receiver says. */

const message = { id: 'msg_1', timestamp: 1_700_000_000, body: '{"type":"test"}' }
const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`]
const never = new AbortController().signal
const senderWith = (guard: AddressGuard) => new Sender({ guard, limits: defaultLimits })
const authority = new Authority()
const certificate = authority.issue('receiver', 'DNS:receiver.test,IP:127.0.0.2')
const defaultAuthorities = getCACertificates('default')

setDefaultCACertificates([...defaultAuthorities, readFileSync(authority.ca, 'utf8')])
atEnd(() => {
  setDefaultCACertificates(defaultAuthorities)
  authority.remove()
})

async function listen(server: Server, address: string, port = 0): Promise<number> {
  server.listen(port, address)
  await once(server, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('not listening')
  return bound.port
}

/** Counts connections, on all addresses of this machine. */
async function trap(address = '::'): Promise<{ port: number; connections: () => number }> {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.destroy()
  })
  return { port: await listen(server, address), connections: () => count }
}

type Handler = Parameters<typeof createHttpsServer>[1]

/** A receiver with a valid certificate on 127.0.0.2. */
async function receiver(handler: Handler, port = 0): Promise<number> {
  const tls = { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }
  const server = createHttpsServer(tls, handler)
  const bound = await listen(server, '127.0.0.2', port)
  // Runs before the server is closed, which waits for its connections.
  onTestFinished(() => server.closeAllConnections())
  return bound
}

async function dnsServer(next: () => string): Promise<ChangingDns> {
  const dns = await ChangingDns.start(next)
  onTestFinished(() => dns.stop())
  return dns
}

/** The error code of a message that was not sent, or the status of the response. */
async function outcome(sender: Sender, url: string, signal = never): Promise<string | number> {
  try {
    return (await sender.send(url, message, secrets, signal)).status
  } catch (error) {
    if (error instanceof SendError) return error.code
    throw error
  }
}

describe('hostile URLs', () => {
  it('at least 200, with every notation of a forbidden address, cause no connection', async () => {
    const { port, connections } = await trap()
    const sender = senderWith(new AddressGuard())
    const urls = hostileAddresses.flatMap((address) =>
      notationsOf(address).map((host) => `https://${host}:${port}/x`),
    )
    expect(urls.length).toBeGreaterThanOrEqual(200)
    const outcomes = new Map<string, string | number>()
    for (const url of urls) outcomes.set(url, await outcome(sender, url))
    const wrong = [...outcomes].filter(([, result]) => result !== 'address_forbidden')
    expect(wrong).toEqual([])
    expect(connections()).toBe(0)
  })

  it('with another scheme, a low port, a password or a fragment are rejected', async () => {
    const { port, connections } = await trap()
    const sender = senderWith(new AddressGuard(parseNetworks('127.0.0.1')))
    const urls = [
      `http://127.0.0.1:${port}/`,
      `ftp://127.0.0.1:${port}/`,
      `file:///etc/passwd`,
      `gopher://127.0.0.1:${port}/`,
      `data:text/plain,x`,
      `https://user:password@127.0.0.1:${port}/`,
      `https://user@127.0.0.1:${port}/`,
      `https://127.0.0.1:${port}/#x`,
      'https://127.0.0.1:22/',
      'https://127.0.0.1:25/',
      'https://127.0.0.1:80/',
      `//127.0.0.1:${port}/`,
      `https://`,
      `https://127.0.0.1:${port}/${'x'.repeat(limits.webhookUrlCharactersMax)}`,
      '',
    ]
    for (const url of urls) expect(await outcome(sender, url), url.slice(0, 60)).toBe('url_forbidden')
    expect(connections()).toBe(0)
  })

  it('whose host name has a forbidden address cause no connection', async () => {
    const { port, connections } = await trap()
    const ipv4 = hostileAddresses.filter((address) => !address.includes(':'))
    let n = 0
    const dns = await dnsServer(() => ipv4[n++ % ipv4.length] ?? '')
    const sender = senderWith(new AddressGuard(undefined, dns.resolve))
    for (let i = 0; i < ipv4.length; i++)
      expect(await outcome(sender, `https://h${i}.test:${port}/`)).toBe('address_forbidden')
    expect(n).toBe(ipv4.length)
    const system = senderWith(new AddressGuard())
    for (const name of ['localhost', 'LOCALHOST'])
      expect(await outcome(system, `https://${name}:${port}/`)).toBe('address_forbidden')
    expect(connections()).toBe(0)
  })
})

describe('a DNS server that changes its answer', () => {
  it('cannot make a connection to an address that was not checked', async () => {
    let received = 0
    // First on 127.0.0.1, where other programs use ports; nothing else uses 127.0.0.2.
    const { port, connections } = await trap('127.0.0.1')
    await receiver((request, response) => {
      received++
      request.resume()
      response.end()
    }, port)
    let question = 0
    const answers = ['127.0.0.2', '127.0.0.1']
    const dns = await dnsServer(() => answers[question++ % 2] ?? '')
    const sender = senderWith(new AddressGuard(parseNetworks('127.0.0.2'), dns.resolve))
    const outcomes: (string | number)[] = []
    for (let i = 0; i < 40; i++) outcomes.push(await outcome(sender, `https://receiver.test:${port}/`))
    // One query for each message: there is no second answer to which the connection could go.
    expect(dns.queries).toBe(40)
    expect(outcomes).toEqual(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 200 : 'address_forbidden')))
    expect(received).toBe(20)
    expect(connections()).toBe(0)
  })
})

describe('a receiver', () => {
  const guard = new AddressGuard(parseNetworks('127.0.0.2'))
  const sender = senderWith(guard)

  it('gets the body and the headers of Standard Webhooks', async () => {
    const seen: { url: string | undefined; headers: NodeJS.Dict<string | string[]>; body: string }[] = []
    const port = await receiver((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        seen.push({ url: request.url, headers: request.headers, body })
        response.writeHead(202, { 'retry-after': '7' }).end('accepted')
      })
    })
    const result = await sender.send(`https://127.0.0.2:${port}/a?b=c`, message, secrets, never)
    expect(result).toEqual({ status: 202, retryAfterSeconds: 7, body: 'accepted' })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      url: '/a?b=c',
      body: '{"type":"test"}',
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': '1700000000',
        'content-type': 'application/json; charset=utf-8',
      },
    })
  })

  it('cannot redirect a message: no connection to the target', async () => {
    const { port: target, connections } = await trap('127.0.0.1')
    for (const status of [301, 302, 303, 307, 308]) {
      const port = await receiver((request, response) => {
        request.resume()
        response.writeHead(status, { location: `https://127.0.0.1:${target}/` }).end()
      })
      expect(await outcome(sender, `https://127.0.0.2:${port}/`)).toBe(status)
    }
    expect(connections()).toBe(0)
  })

  it('with a certificate of another name or authority gets nothing', async () => {
    let requests = 0
    const port = await receiver((request, response) => {
      requests++
      request.resume()
      response.end()
    })
    const renamed = new AddressGuard(parseNetworks('127.0.0.2'), async () => [
      { address: '127.0.0.2', family: 4 },
    ])
    expect(await outcome(senderWith(renamed), `https://other.test:${port}/`)).toBe('certificate_invalid')
    setDefaultCACertificates(defaultAuthorities)
    expect(await outcome(sender, `https://127.0.0.2:${port}/`)).toBe('certificate_invalid')
    setDefaultCACertificates([...defaultAuthorities, readFileSync(authority.ca, 'utf8')])
    expect(await outcome(sender, `https://127.0.0.2:${port}/`)).toBe(200)
    expect(requests).toBe(1)
  })

  it('that sends without end is cut off after a few KB', async () => {
    let stopped: (() => void) | undefined
    const closed = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const port = await receiver((request, response) => {
      request.resume()
      const more = () => {
        while (response.write('x'.repeat(64 * 1024))) if (response.destroyed) return
      }
      response.on('drain', more)
      response.on('close', () => stopped?.())
      more()
    })
    const { status, body } = await sender.send(`https://127.0.0.2:${port}/`, message, secrets, never)
    expect(status).toBe(200)
    expect(body).toHaveLength(defaultLimits.webhookResponseBytesMax)
    await closed
  })

  it('that does not respond causes a timeout', async () => {
    const port = await receiver(() => {})
    const hasty = new Sender({
      guard,
      limits: { webhookRequestMsMax: 300, webhookResponseBytesMax: 100 },
    })
    expect(await outcome(hasty, `https://127.0.0.2:${port}/`)).toBe('timeout')
  })

  it('that responds slowly is left when the process shuts down', async () => {
    const shutdown = new AbortController()
    const port = await receiver(() => shutdown.abort())
    expect(await outcome(sender, `https://127.0.0.2:${port}/`, shutdown.signal)).toBe('aborted')
  })

  it('that is not there causes connection_failed, and an unknown host host_unknown', async () => {
    const server = createServer()
    const port = await listen(server, '127.0.0.2')
    await once(server.close(), 'close')
    expect(await outcome(sender, `https://127.0.0.2:${port}/`)).toBe('connection_failed')
    const unknown = new AddressGuard(undefined, async () => [])
    expect(await outcome(senderWith(unknown), 'https://receiver.test/')).toBe('host_unknown')
  })
})
