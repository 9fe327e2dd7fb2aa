import { bench } from './command.ts'

/** `npm run bench` with these suites instead of the real ones. The arguments: the folder of the results, then those of the command. */
const works = {
  name: 'works',
  bound: '≤ 2',
  run: async () => ({ value: '1.00', samples: 5, ok: true }),
}
const suites = {
  good: [works],
  thrown: [works, { name: 'throws', bound: '≤ 2', run: () => Promise.reject(new Error('no server')) }],
  empty: [
    { name: 'measures_nothing', bound: '≤ 2', run: async () => ({ value: '0.00', samples: 0, ok: true }) },
  ],
}

const [folder, ...args] = process.argv.slice(2)
process.exitCode = await bench(args, suites, folder)
