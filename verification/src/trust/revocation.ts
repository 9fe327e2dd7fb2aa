import type { Check } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { type CreatedKey, Managed } from './manage.ts'

const products = '/api/v1/inventory/product?limit=3'

/**
 * Revokes keys while two processes are under load: over HTTP at either process, by a rotation without overlap, and by the
 * command line. Neither process accepts a request that is sent after the revocation was acknowledged.
 */
export const revocation: Check = {
  name: 'revocation',
  bound: '0 accepted after revocation',
  async run(context) {
    const service = await Service.start({ max_connections: '200' })
    const client = new Client(64)
    try {
      const account = new Managed(client, 'acme', await service.account('acme'))
      const ports = [(await service.serve()).port, (await service.serve()).port]
      const [first = 0] = ports
      const keys: CreatedKey[] = []
      await inParallel(context.size(100, 8), 4, async (at) => {
        keys[at] = await account.createKey(first)
      })
      const revoked = new Set<string>()
      const seen = { before: 0, after: 0, accepted: 0 }
      const load = { on: true }
      const send = async (port: number, { key, key_id: id }: CreatedKey) => {
        const wasRevoked = revoked.has(id)
        const { status } = await account.get(port, products, key)
        if (!wasRevoked && status === 200) seen.before++
        if (wasRevoked) seen.after++
        if (wasRevoked && status !== 401) seen.accepted++
      }
      const worker = async (random: Random) => {
        while (load.on) await send(random.pick(ports), random.pick(keys))
      }
      const workers = Promise.all(
        Array.from({ length: 24 }, (_, n) => worker(new Random(context.seed, 60, n))),
      )
      const progress = context.progress('keys revoked', keys.length)
      await inParallel(keys.length, 2, async (at) => {
        const key = keys[at]
        if (key === undefined) return
        await revoke(service, account, ports, key, at)
        revoked.add(key.key_id)
        await Promise.all(ports.map((port) => send(port, key)))
        progress.step()
      })
      progress.end()
      load.on = false
      await workers
      return {
        value: `${seen.accepted} of ${grouped(seen.after)} requests, ${keys.length} keys`,
        samples: Math.min(seen.before, seen.after),
        ok: seen.accepted === 0 && seen.before > keys.length && seen.after > keys.length,
        note: `${grouped(seen.before)} accepted before, ${grouped(seen.after)} sent after the acknowledgement`,
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** One of ten by the command line, which is slow to start; two of ten by a rotation; the others over HTTP. */
async function revoke(
  service: Service,
  account: Managed,
  ports: readonly number[],
  { key_id: id }: CreatedKey,
  at: number,
): Promise<void> {
  const port = ports[at % ports.length] ?? 0
  const path = `/manage/v1/keys/${id}`
  if (at % 10 === 0) await service.command(['key', 'revoke', id, '--account', account.name])
  else if (at % 10 < 3) await account.post(port, `${path}/rotate`, { overlap_seconds: 0 })
  else await account.post(port, `${path}/revoke`, undefined)
}
