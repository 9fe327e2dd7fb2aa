import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import { MovableAddress } from './movable-address.ts'

/** A server that sends its name on every new connection, and then echoes. */
async function namedServer(name: string): Promise<Server & { port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(name)
    socket.pipe(socket)
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(server, { port, sockets })
}

async function opened(address: MovableAddress): Promise<{ socket: Socket; greeting: string }> {
  const socket = connect(address.port, '127.0.0.1')
  socket.on('error', () => {})
  const [greeting] = await once(socket, 'data')
  return { socket, greeting: String(greeting) }
}

describe('MovableAddress', () => {
  let one: Awaited<ReturnType<typeof namedServer>>
  let other: Awaited<ReturnType<typeof namedServer>>
  let address: MovableAddress

  beforeEach(async () => {
    one = await namedServer('one')
    other = await namedServer('other')
    address = await MovableAddress.listen()
  })

  afterEach(async () => {
    await address.stop()
    for (const server of [one, other]) {
      for (const socket of server.sockets) socket.destroy()
      server.close()
    }
  })

  it('refuses connections before the first moveTo', async () => {
    const socket = connect(address.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(address.connections).toBe(0)
  })

  it('leaves old connections on the old server and forwards new ones to the new server', async () => {
    address.moveTo(one.port, 'close')
    const before = await opened(address)
    address.moveTo(other.port, 'leave')
    const after = await opened(address)
    before.socket.write('still here')
    const [echo] = await once(before.socket, 'data')
    expect([before.greeting, after.greeting, String(echo)]).toEqual(['one', 'other', 'still here'])
    expect(address.connections).toBe(2)
  })

  it('closes both ends of old connections with `close`', async () => {
    address.moveTo(one.port, 'close')
    const { socket } = await opened(address)
    const closed = [socket, ...one.sockets].map((end) => once(end, 'close'))
    expect(closed.length).toBe(2)
    address.moveTo(other.port, 'close')
    await Promise.all(closed)
    expect((await opened(address)).greeting).toBe('other')
  })

  it('closes a connection whose server closes it', async () => {
    address.moveTo(one.port, 'close')
    const { socket } = await opened(address)
    const closed = once(socket, 'close')
    for (const end of one.sockets) end.destroy()
    await closed
    expect(address.connections).toBe(0)
  })
})
