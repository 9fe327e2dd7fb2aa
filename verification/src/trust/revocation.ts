import type { Check } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { type MadeKey, Managed } from './manage.ts'

const products = '/api/v1/inventory/product?limit=3'

/**
 * Two processes under load, keys revoked meanwhile: over HTTP at either process, by a rotation without overlap, by the
 * command line. No request that is sent after the acknowledgement is accepted, by either process.
 */
export const revocation: Check = {
  name: 'revocation',
  bound: '0 accepted after it',
  async run(context) {
    const service = await Service.start({ max_connections: '200' })
    const client = new Client(64)
    try {
      const account = new Managed(client, 'acme', await service.account('acme'))
      const ports = [(await service.serve()).port, (await service.serve()).port]
      const [first = 0] = ports
      const keys: MadeKey[] = []
      await inParallel(context.size(100, 20), 4, async (at) => {
        keys[at] = await account.makeKey(first)
      })
      const ended = new Set<string>()
      const seen = { before: 0, after: 0, accepted: 0 }
      const load = { on: true }
      const ask = async (port: number, { key, key_id: id }: MadeKey) => {
        const wasEnded = ended.has(id)
        const { status } = await account.ask(port, products, key)
        if (!wasEnded && status === 200) seen.before++
        if (wasEnded) seen.after++
        if (wasEnded && status !== 401) seen.accepted++
      }
      const lane = async (random: Random) => {
        while (load.on) await ask(random.pick(ports), random.pick(keys))
      }
      const lanes = Promise.all(Array.from({ length: 24 }, (_, n) => lane(new Random(context.seed, 60, n))))
      const progress = context.progress('keys revoked', keys.length)
      await inParallel(keys.length, 2, async (at) => {
        const key = keys[at]
        if (key === undefined) return
        await revoke(service, account, ports, key, at)
        ended.add(key.key_id)
        await Promise.all(ports.map((port) => ask(port, key)))
        progress.step()
      })
      progress.end()
      load.on = false
      await lanes
      return {
        value: `${seen.accepted} of ${grouped(seen.after)} requests, ${keys.length} keys`,
        ok: seen.accepted === 0 && seen.before > keys.length && seen.after > keys.length,
        note: `${grouped(seen.before)} accepted before, ${grouped(seen.after)} sent after the acknowledgement`,
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** One of ten by the command line, which takes its time to start; two of ten by a rotation. */
async function revoke(
  service: Service,
  account: Managed,
  ports: readonly number[],
  { key_id: id }: MadeKey,
  at: number,
): Promise<void> {
  const port = ports[at % ports.length] ?? 0
  const path = `/manage/v1/keys/${id}`
  if (at % 10 === 0) await service.command(['key', 'revoke', id, '--account', account.name])
  else if (at % 10 < 3) await account.post(port, `${path}/rotate`, { overlap_seconds: 0 })
  else await account.post(port, `${path}/revoke`, undefined)
}
