import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Event } from '../observability/events.ts'
import { Connection } from './connection.ts'

/** A server that accepts connections and never responds. */
let silent: Server
let connectionString: string
const accepted: Socket[] = []

beforeEach(async () => {
  silent = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  connectionString = `postgres://user@127.0.0.1:${(silent.address() as AddressInfo).port}/database`
})

afterEach(() => {
  for (const socket of accepted.splice(0)) socket.destroy()
  silent.close()
})

it('is closed if the server does not respond in time', async () => {
  const events: Event[] = []
  const connection = new Connection({ connectionString }, (event) => events.push(event))
  await expect(connection.open(50, async () => {})).rejects.toThrow('timeout expired')
  expect(connection.isDestroyed).toBe(true)
  // Closed on purpose, so it is not reported as broken.
  expect(events).toEqual([])
})

it('begins transactions with its local settings', () => {
  const connection = new Connection({ localSettings: "set local jit = 'off'" })
  expect(connection.beginText()).toBe("begin isolation level read committed; set local jit = 'off'")
  expect(new Connection().beginText('read only')).toBe('begin read only')
})
