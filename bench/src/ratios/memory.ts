import type { Benchmark } from '../benchmark.ts'
import { short } from '../numbers.ts'
import { peakBytes } from '../server.ts'
import { bar } from '../side-by-side.ts'
import { verifiedFixture } from './rates.ts'

const boundMb = 400

/** The peak memory of every server process of this run. Must be the last benchmark. */
export const memory: Benchmark = {
  name: 'memory',
  bound: `≤ ${boundMb} MB`,
  async run(context) {
    await verifiedFixture(context)
    const service = bar('service, peak', [peakBytes() / 1024 / 1024])
    return {
      value: `${short(service.value)} MB`,
      samples: service.value,
      ok: service.value <= boundMb,
      series: [{ label: 'resident memory', unit: 'MB', service, limit: boundMb }],
    }
  },
}
