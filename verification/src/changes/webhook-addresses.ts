import { createServer, type Server } from 'node:net'
import { defaultLimits } from '../../../server/src/limits/passed-limits.ts'
import { parseNetworks } from '../../../server/src/networks.ts'
import { AddressGuard, SendError } from '../../../server/src/webhooks/address-guard.ts'
import { Sender } from '../../../server/src/webhooks/sender.ts'
import { ChangingDns } from '../../../server/test/changing-dns.ts'
import { hostileAddresses, notationsOf } from '../../../server/test/hostile-addresses.ts'
import { Receiver, receiverAddress } from '../../../server/test/webhook-receiver.ts'
import type { Check } from '../check.ts'

const message = { id: 'msg_1', timestamp: 1_700_000_000, body: '{"data":{}}' }
const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`]
const never = new AbortController().signal
const senderWith = (guard: AddressGuard) => new Sender({ guard, limits: defaultLimits })
const redirects = [301, 302, 303, 307, 308]

/** Hostile URLs, redirects to them, and a DNS server that changes its answer: a listener on all addresses counts connections. */
export const webhookAddresses: Check = {
  name: 'webhook_addresses',
  bound: '= 0 connections',
  async run() {
    const receiver = new Receiver()
    await receiver.start()
    const trap = await Trap.start()
    let answer = 0
    const dns = await ChangingDns.start(() => {
      answer += 1
      return answer % 2 === 0 ? '127.0.0.1' : receiverAddress
    })
    try {
      const guard = new AddressGuard(parseNetworks(receiverAddress), dns.resolve)
      const sender = senderWith(guard)
      const allowed = senderWith(new AddressGuard(parseNetworks(receiverAddress)))
      const urls = hostileUrls(trap.port)
      for (const url of urls) await outcome(senderWith(new AddressGuard()), url)
      for (const status of redirects) {
        receiver.respond = () => ({ status, headers: { location: `https://127.0.0.1:${trap.port}/` } })
        await outcome(allowed, receiver.url)
      }
      const lookups = 200
      const results: string[] = []
      for (let i = 0; i < lookups; i++)
        results.push(await outcome(sender, `https://host${i}.test:${trap.port}/`))
      const refused = results.filter((result) => result === 'address_forbidden').length
      const ok = trap.connections === 0 && receiver.messages.length === redirects.length
      return {
        value: `${trap.connections} (${urls.length} URLs, ${redirects.length} redirects, ${lookups} changing names)`,
        samples: Math.min(urls.length, receiver.messages.length, dns.queries),
        ok: ok && refused === lookups / 2 && urls.length >= 200 && dns.queries === lookups,
        note: `${refused} of ${lookups} names refused; the others have an allowed address without a listener`,
      }
    } finally {
      await dns.stop()
      await trap.stop()
      await receiver.stop()
    }
  },
}

function hostileUrls(port: number): string[] {
  // The receiver of this check is allowed.
  return hostileAddresses.flatMap((address) => notationsOf(address).map((host) => `https://${host}:${port}/`))
}

async function outcome(sender: Sender, url: string): Promise<string> {
  try {
    return String((await sender.send(url, message, secrets, never)).status)
  } catch (error) {
    if (error instanceof SendError) return error.code
    throw error
  }
}

/** Counts connections to all addresses of this machine except that of the receiver. */
class Trap {
  connections = 0
  readonly #server: Server
  readonly port: number

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
    server.on('connection', (socket) => {
      if (socket.localAddress?.endsWith(receiverAddress) !== true) this.connections += 1
      socket.destroy()
    })
  }

  static async start(): Promise<Trap> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '::', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening')
    return new Trap(server, address.port)
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
