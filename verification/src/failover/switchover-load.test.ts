import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import { Client } from '../client.ts'
import { waitUntil } from '../wait-until.ts'
import { SwitchoverLoad } from './switchover-load.ts'

/** An in-memory service of one account, with faults that a test can switch on. */
class Partners {
  readonly server: Server = createServer((request, response) => void this.#respond(request, response))
  readonly #names: string[] = []
  readonly #ids = new Map<string, number>()
  /** The number of newest records that responses omit. */
  omitted = 0
  /** Creates another record if a create is sent again. */
  duplicates = false
  /** Every second create is committed and then followed by a 503. */
  losesResponses = false

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://localhost')
    const send = (status: number, body: object) =>
      response.writeHead(status, { etag: `W/"${this.#names.length}"` }).end(JSON.stringify(body))
    if (request.method === 'POST') {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const { name } = JSON.parse(text)
      const isNew = !this.#ids.has(name)
      if (isNew || this.duplicates) this.#ids.set(name, this.#names.push(name))
      if (isNew && this.losesResponses && this.#names.length % 2 === 0) return void send(503, {})
      return void send(201, { data: { id: this.#ids.get(name) } })
    }
    const shown = this.#names.slice(0, this.#names.length - this.omitted)
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

  it('finds no fault in a correct service, even if responses are lost', async () => {
    partners.losesResponses = true
    const { stale, duplicated, faults, unavailable } = await run()
    expect({ stale, duplicated, faults }).toEqual({ stale: 0, duplicated: 0, faults: [] })
    expect(unavailable).toBeGreaterThan(0)
  })

  it('detects that an acknowledged create is missing from a response', async () => {
    partners.omitted = 2
    expect((await run()).stale).toBeGreaterThan(0)
  })

  it('detects that a repeated create has created a second record', async () => {
    Object.assign(partners, { losesResponses: true, duplicates: true })
    expect((await run()).duplicated).toBeGreaterThan(0)
  })

  it('measures the time until writes are acknowledged again', async () => {
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
