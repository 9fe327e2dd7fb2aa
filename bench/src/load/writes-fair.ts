import type { Check } from '../../../verification/src/check.ts'
import { Service } from '../../../verification/src/service.ts'
import { ms } from './fixture.ts'
import { answered, type Load, others, runLoad } from './load.ts'

const partners = '/api/v1/resources/partner'
const writers = 190
const calmRate = 20

/** One account creates over as many connections as it can get; another creates now and then, and hardly notices. */
export const writesFair: Check = {
  name: 'writes_fair',
  bound: 'p50 ≤ 5 × calm, 0 errors (quick: 40 ×)',
  async run(context) {
    // Commits that wait for the disk, as everywhere but in tests.
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
      const alone = answered(await runLoad(calmLoad), 201)

      const noise = { host: 'busy.localhost', key: busy, ...create }
      const noisy = runLoad({
        ports: [port],
        rate: 0,
        seconds: seconds + 2,
        connectionsMax: writers,
        requests: [noise, { ...noise, idempotencyKey: 'benchmark-{n}' }],
      })
      await runLoad({ ...calmLoad, seconds: 1 })
      const besideResult = await runLoad(calmLoad)
      const noiseResult = await noisy

      const beside = answered(besideResult, 201)
      const ratio = beside.p50Ms / alone.p50Ms
      const errors = others(besideResult, 201)
      const written = answered(noiseResult, 201).count
      return {
        value: `${ratio.toFixed(2)} × (${ms(alone.p50Ms)} → ${ms(beside.p50Ms)}), ${errors === '' ? '0 errors' : errors}`,
        ok: ratio <= context.size(5, 40) && errors === '' && written > 0,
        note:
          `p99 of the other ${ms(alone.p99Ms)} → ${ms(beside.p99Ms)}; ${writers} connections of one account: ` +
          `${(written / noiseResult.seconds).toFixed(0)} creates/s${
            others(noiseResult, 201) === '' ? '' : `, ${others(noiseResult, 201)}`
          }`,
      }
    } finally {
      await service.stop()
    }
  },
}
