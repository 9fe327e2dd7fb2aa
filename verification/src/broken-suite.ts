import type { Check } from './check.ts'
import { verify } from './command.ts'

/** `npm run verify` with these suites instead of the real ones. The arguments: the folder of the results, then those of the command. */
const check = (name: string, run: Check['run']): Check => ({ name, bound: 'any', run })
const works = check('works', async () => ({ value: '0 of 5', samples: 5, ok: true }))
const mustNotRun = check('cannot_run', () => Promise.reject(new Error('it ran')))
let runs = 0

const suites: Record<string, readonly Check[]> = {
  good: [works],
  thrown: [works, check('throws', () => Promise.reject(new Error('a node did not come back')))],
  empty: [check('compares_nothing', async () => ({ value: '0 wrong of 0', samples: 0, ok: true }))],
  unknown: [check('divides_by_zero', async () => ({ value: '0 wrong', samples: Number.NaN, ok: true }))],
  short: [check('misses', async () => ({ value: '1 of 5', samples: 5, ok: false }))],
  lacking: [works, { ...mustNotRun, needs: ['kubectl'] }],
  // @ts-expect-error: no reason that a check makes up
  invented: [works, { ...mustNotRun, needs: ['a quiet machine'] }],
  unstable: [
    check('second_time', async ({ attempt }) => {
      runs += 1
      if (attempt === 1) throw new Error('busy')
      return { value: `${runs} runs`, samples: 1, ok: true }
    }),
  ],
}

const [folder, ...args] = process.argv.slice(2)
process.exitCode = await verify(args, suites, folder)
