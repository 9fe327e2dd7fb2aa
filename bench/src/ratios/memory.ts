import type { Benchmark } from '../benchmark.ts'
import { short } from '../numbers.ts'
import { peakBytes } from '../server.ts'
import { bar } from '../side-by-side.ts'
import { provenFixture } from './rates.ts'

const boundMb = 400

/** Of every server process that this run has started: it stands last. */
export const memory: Benchmark = {
  name: 'memory',
  bound: `≤ ${boundMb} MB`,
  async run(context) {
    await provenFixture(context)
    const service = bar('service, peak', [peakBytes() / 1024 / 1024])
    return {
      value: `${short(service.value)} MB`,
      ok: service.value <= boundMb,
      series: [{ label: 'resident memory', unit: 'MB', service, limit: boundMb }],
    }
  },
}
