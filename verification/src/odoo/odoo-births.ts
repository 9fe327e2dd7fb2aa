import { createServer, request, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../check.ts'
import { Random } from '../random.ts'
import type { OdooRow } from './live-odoo.ts'
import { pairOf } from './odoo-copy.ts'
import { type OdooPair, polling } from './odoo-pair.ts'

/**
 * Partners are created here while the connector is killed and every tenth response of Odoo to `load` is lost. Each is one partner in
 * Odoo, they are in order, and each record here has the id of its partner.
 */
export const odooBirths: Check = {
  name: 'odoo_births',
  bound: '0 doubled, missing or out of order',
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const count = context.size(10_000, 100)
    // Declares the fields, so that the check can ask for them.
    await pair.once()
    const random = new Random(context.seed, 3)
    const lossy = await LossyProxy.start(pair.odoo.access.url, random)
    const tag = `Born ${Date.now().toString(36)}`
    try {
      pair.configure(lossy.url, {
        back: { partner: { filter: `name*"${tag}"` } },
        polling: { ...polling, hot: 0.5 },
      })
      pair.run()
      const done = new AbortController()
      const killing = killUntil(pair, done.signal, random)
      for (let i = 0; i < count; i++) {
        await pair.qm.partners.create({ name: `${tag} ${i}`, is_customer: true })
        await sleep(random.integer(0, 60))
      }
      const left = { filter: `name*"${tag}"&x_odoo_id=null`, limit: 1 } as const
      const end = Date.now() + 900_000
      while ((await pair.qm.partners.list(left)).meta.total > 0 && Date.now() < end) await sleep(500)
      done.abort()
      const kills = await killing
      await pair.end('SIGTERM')
      const faults = await faultsOf(pair, tag, count)
      return {
        value: `${faults.length} of ${count}, ${lossy.lost} lost, ${kills} kills`,
        ok: faults.length === 0,
        samples: Math.min(count, lossy.lost, kills),
        note: faults.slice(0, 20).join('\n'),
      }
    } finally {
      lossy.stop()
      pair.configure(pair.odoo.access.url)
    }
  },
}

async function faultsOf(pair: OdooPair, tag: string, count: number): Promise<string[]> {
  const rows: OdooRow[] = await pair.odoo.read('res.partner', 'search_read', {
    domain: [['name', '=like', `${tag} %`]],
    fields: ['name'],
    order: 'id',
    load: null,
  })
  const ids = new Map<string, number>()
  const faults: string[] = []
  for (const row of rows) {
    const name = String(row['name'])
    if (ids.has(name)) faults.push(`${name} is doubled`)
    ids.set(name, row.id)
  }
  if (rows.some((row, i) => row['name'] !== `${tag} ${i}`)) faults.push('they are not in order')
  let here = 0
  for await (const { name, x_odoo_id: id } of pair.qm.partners.all({ filter: `name*"${tag}"` })) {
    here++
    if (ids.get(name) !== id) faults.push(`${name} has the id ${id}, and in Odoo ${ids.get(name)}`)
  }
  if (here !== count) faults.push(`${here} records here`)
  return faults
}

async function killUntil(pair: OdooPair, done: AbortSignal, random: Random): Promise<number> {
  for (let kills = 0; ; kills++) {
    // One in three dies while it starts; the others get to work first, however busy the machine is.
    const started = new Date().toISOString()
    while (random.chance(0.97) && !done.aborted && !pair.isRunningSince(started)) await sleep(250)
    await sleep(random.integer(0, 4_000), undefined, { signal: done }).catch(() => undefined)
    if (done.aborted) return kills
    await pair.end('SIGKILL')
    if (kills === 2) pair.loseState()
    pair.run()
  }
}

/** Between the connector and Odoo: loses every tenth response to `load`, after Odoo has acted. */
class LossyProxy {
  lost = 0
  readonly #server: Server
  readonly #random: Random

  private constructor(target: string, random: Random) {
    this.#random = random
    const { hostname, port } = new URL(target)
    this.#server = createServer((incoming, outgoing) => {
      const { method, url: path = '', headers } = incoming
      const onward = request({ hostname, port, method, path, headers }, (answer) => {
        if (path.endsWith('/load') && this.#random.chance(0.1)) {
          answer.resume()
          answer.once('end', () => {
            this.lost++
            outgoing.destroy()
          })
          return
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      onward.once('error', () => outgoing.destroy())
      incoming.pipe(onward)
    })
  }

  static async start(target: string, random: Random): Promise<LossyProxy> {
    const proxy = new LossyProxy(target, random)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
