import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../server/src/cli/database/throwaway-postgres.ts'
import { Client } from '../client.ts'
import { waitUntil } from '../replication/postgres-node.ts'
import { SwitchoverLoad } from './switchover-load.ts'

/** A service of one account in memory, that can be told to go wrong. */
class Partners {
  readonly server: Server = createServer((request, response) => void this.#answer(request, response))
  readonly #names: string[] = []
  readonly #ids = new Map<string, number>()
  /** Of the last records, so many are in no answer. */
  forgets = 0
  /** A create that is sent again is another record. */
  repeats = false
  /** Every second create is done and not acknowledged. */
  breaksOff = false

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://localhost')
    const send = (status: number, body: object) =>
      response.writeHead(status, { etag: `W/"${this.#names.length}"` }).end(JSON.stringify(body))
    if (request.method === 'POST') {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const { name } = JSON.parse(text)
      const isNew = !this.#ids.has(name)
      if (isNew || this.repeats) this.#ids.set(name, this.#names.push(name))
      if (isNew && this.breaksOff && this.#names.length % 2 === 0) return void send(503, {})
      return void send(201, { data: { id: this.#ids.get(name) } })
    }
    const shown = this.#names.slice(0, this.#names.length - this.forgets)
    const id = Number(url.pathname.split('/')[5] ?? 0)
    if (id > 0) {
      const name = shown[id - 1]
      return void (name === undefined ? send(404, {}) : send(200, { data: { name } }))
    }
    const wanted = url.searchParams.get('filter')?.slice('name='.length)
    const data = shown
      .map((name, at) => ({ id: at + 1, name }))
      .filter(({ name }) => name === (wanted ?? name))
    return void send(200, { data, meta: { total: data.length } })
  }
}

describe('SwitchoverLoad', () => {
  let partners: Partners
  let client: Client
  let port: number

  beforeEach(async () => {
    partners = new Partners()
    client = new Client()
    port = await freePort()
    partners.server.listen(port, '127.0.0.1')
    await once(partners.server, 'listening')
  })

  afterEach(() => {
    client.close()
    partners.server.close()
  })

  async function run(): Promise<SwitchoverLoad> {
    const load = new SwitchoverLoad({
      client,
      ports: [port],
      headers: ['Host', 'localhost'],
      seed: 1,
      label: 'test',
    })
    await waitUntil(async () => load.created.size >= 20 && load.requests >= 60)
    await load.end()
    return load
  }

  it('finds nothing wrong with a right service, also when answers get lost', async () => {
    partners.breaksOff = true
    const { stale, doubled, faults, unavailable } = await run()
    expect({ stale, doubled, faults }).toEqual({ stale: 0, doubled: 0, faults: [] })
    expect(unavailable).toBeGreaterThan(0)
  })

  it('sees that an acknowledged create is missing from an answer', async () => {
    partners.forgets = 2
    expect((await run()).stale).toBeGreaterThan(0)
  })

  it('sees that a create sent again has made a second record', async () => {
    Object.assign(partners, { breaksOff: true, repeats: true })
    expect((await run()).doubled).toBeGreaterThan(0)
  })

  it('tells when writes are acknowledged again', async () => {
    const load = new SwitchoverLoad({
      client,
      ports: [port],
      headers: ['Host', 'localhost'],
      seed: 1,
      label: 'test',
    })
    const since = performance.now()
    const tookMs = await load.writesAgain(since)
    expect(tookMs).toBeLessThanOrEqual(performance.now() - since)
    expect(load.created.size).toBeGreaterThan(0)
    await load.end()
  })
})
