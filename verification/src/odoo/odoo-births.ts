import { createServer, request, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../check.ts'
import { Random } from '../random.ts'
import type { OdooRow } from './live-odoo.ts'
import { pairOf } from './odoo-copy.ts'
import { type OdooPair, polling } from './odoo-pair.ts'

/**
 * Partners are created here while the connector is killed and responses of Odoo to `load` are lost. Each is one partner in Odoo, they are in
 * order, and each record here has the id of its partner.
 */
export const odooBirths: Check = {
  name: 'odoo_births',
  bound: '0 doubled, missing or out of order',
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const [count, kills] = [context.size(10_000, 120), context.size(50, 6)]
    // Declares the fields, so that the check can ask for them.
    await pair.once()
    const random = new Random(context.seed, 3)
    const lossy = await LossyProxy.start(pair.odoo.access.url, context.size(0.1, 0.3), random)
    const tag = `Born ${Date.now().toString(36)}`
    try {
      pair.configure(lossy.url, {
        back: { partner: { filter: `name*"${tag}"` } },
        polling: { ...polling, hot: 0.5 },
      })
      pair.run()
      const progress = context.progress('kills', kills)
      let born = 0
      for (let kill = 0; kill < kills; kill++) {
        // One in three dies while it starts. The others get to work first, however busy the machine is.
        if (random.chance(0.67)) await pair.untilRunning()
        const moment = Date.now() + random.integer(0, 2_000)
        while (born < (count * (kill + 1)) / kills) {
          await pair.qm.partners.create({ name: `${tag} ${born++}`, is_customer: true })
          await sleep(random.integer(0, context.size(15, 60)))
        }
        await sleep(Math.max(0, moment - Date.now()))
        await pair.end('SIGKILL')
        if (kill === 2) pair.loseState()
        pair.run()
        progress.step()
      }
      progress.end()
      await untilNone(pair, tag)
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

async function untilNone({ qm }: OdooPair, tag: string): Promise<void> {
  const left = { filter: `name*"${tag}"&x_odoo_id=null`, limit: 1 } as const
  const end = Date.now() + 900_000
  while ((await qm.partners.list(left)).meta.total > 0 && Date.now() < end) await sleep(500)
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

/** Between the connector and Odoo: loses a share of the responses to `load`, after Odoo has acted. */
class LossyProxy {
  lost = 0
  readonly #server: Server
  readonly #random: Random

  private constructor(target: string, share: number, random: Random) {
    this.#random = random
    const { hostname, port } = new URL(target)
    this.#server = createServer((incoming, outgoing) => {
      const { method, url: path = '', headers } = incoming
      const onward = request({ hostname, port, method, path, headers }, (answer) => {
        if (path.endsWith('/load') && this.#random.chance(share)) {
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

  static async start(target: string, share: number, random: Random): Promise<LossyProxy> {
    const proxy = new LossyProxy(target, share, random)
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
