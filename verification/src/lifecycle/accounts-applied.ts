import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from '../check.ts'
import { grouped } from '../progress.ts'
import { Service } from '../service.ts'

/** A file with accounts, each with limits and a key, is applied, and applied again. */
export const accountsApplied: Check = {
  name: 'accounts_applied',
  bound: '<= 60 s; again 0 changes',
  async run(context) {
    const count = context.size(5_000, 300)
    // With fsync, as an operator's database has it.
    const service = await Service.start({ fsync: 'on' })
    try {
      const file = join(service.folder, 'accounts.json')
      const accounts = Array.from({ length: count }, (_, n) => ({
        name: `customer-${n}`,
        requests_per_minute: 1_000 + n,
        keys: [{ name: 'shop', scopes: ['product:read', 'partner:create'] }],
      }))
      writeFileSync(file, JSON.stringify({ accounts }))
      const apply = async () => {
        const from = performance.now()
        const lines = (await service.command(['account', 'apply', file, '--json'])).trim().split('\n')
        const seconds = (performance.now() - from) / 1000
        const keys = new Set(lines.flatMap((line) => /"key":"(qm_\w+)"/.exec(line)?.[1] ?? []))
        return { seconds, keys: keys.size, counts: JSON.parse(lines.at(-1) ?? '{}') }
      }
      const first = await apply()
      const again = await apply()
      const isApplied = first.counts.created === count && first.keys === count
      const changes = again.counts.created + again.counts.changed + again.counts.failed + again.keys
      const seconds = first.seconds
      return {
        value: `${grouped(count)} in ${seconds.toFixed(1)} s; again ${changes} changes in ${again.seconds.toFixed(1)} s`,
        samples: first.counts.created,
        ok: isApplied && changes === 0 && again.counts.unchanged === count && seconds <= 60,
      }
    } finally {
      await service.stop()
    }
  },
}
