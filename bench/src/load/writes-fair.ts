import type { Check } from '../../../verification/src/check.ts'
import { Service } from '../../../verification/src/service.ts'
import { ms } from './fixture.ts'
import { type Load, otherStatuses, runLoad, withStatus } from './load.ts'

const partners = '/api/v1/resources/partner'
const writers = 190
const calmRate = 20

/** One account creates over 190 connections; the latency of another account's creates must not suffer. */
export const writesFair: Check = {
  name: 'writes_fair',
  bound: 'p50 ≤ 5 × calm, 0 errors (quick: 40 ×)',
  async run(context) {
    // With fsync, so that commits wait for the disk as in production.
    const service = await Service.start({ fsync: 'on', max_connections: '200' })
    try {
      const [calm, busy] = [await service.account('calm'), await service.account('busy')]
      const { port } = await service.serve()
      const seconds = context.size(30, 8)
      const create = { path: partners, body: '{"name":"Nordwind {n}"}' }
      const calmLoad: Load = {
        ports: [port],
        rate: calmRate,
        seconds,
        connectionsMax: 32,
        requests: [{ host: 'calm.localhost', key: calm, ...create }],
      }
      await runLoad({ ...calmLoad, seconds: 3 })
      const unloaded = withStatus(await runLoad(calmLoad), 201)

      const noise = { host: 'busy.localhost', key: busy, ...create }
      const noisy = runLoad({
        ports: [port],
        rate: 0,
        seconds: seconds + 2,
        connectionsMax: writers,
        requests: [noise, { ...noise, idempotencyKey: 'benchmark-{n}' }],
      })
      await runLoad({ ...calmLoad, seconds: 1 })
      const loadedResult = await runLoad(calmLoad)
      const noiseResult = await noisy

      const loaded = withStatus(loadedResult, 201)
      const ratio = loaded.p50Ms / unloaded.p50Ms
      const errors = otherStatuses(loadedResult, 201)
      const written = withStatus(noiseResult, 201).count
      return {
        value: `${ratio.toFixed(2)} × (${ms(unloaded.p50Ms)} → ${ms(loaded.p50Ms)}), ${errors === '' ? '0 errors' : errors}`,
        samples: Math.min(unloaded.count, loaded.count, written),
        ok: ratio <= context.size(5, 40) && errors === '' && written > 0,
        note:
          `p99 of the other account ${ms(unloaded.p99Ms)} → ${ms(loaded.p99Ms)}; ${writers} connections of one account: ` +
          `${(written / noiseResult.seconds).toFixed(0)} creates/s${
            otherStatuses(noiseResult, 201) === '' ? '' : `, ${otherStatuses(noiseResult, 201)}`
          }`,
      }
    } finally {
      await service.stop()
    }
  },
}
