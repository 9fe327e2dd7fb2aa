import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import SummaryReporter from './.ci/reporter.ts'

/** `SUITE=unit`: what needs no services. `SUITE=integration`: on a real PostgreSQL. Without it, both. */
const suites: Record<string, string[]> = {
  unit: [
    'filter/src/**/*.test.ts',
    'server/src/**/*.test.ts',
    'client/src/**/*.test.ts',
    'clients/python/*.test.ts',
    'connectors/*/src/**/*.test.ts',
    'console/src/**/*.test.ts',
    'verification/src/**/*.test.ts',
    'bench/src/**/*.test.ts',
    'acceptance/coverage/*.test.ts',
    'architecture/*.test.ts',
  ],
  integration: ['server/test/**/*.test.ts', 'client/test/**/*.test.ts', 'connectors/*/test/**/*.test.ts'],
}
const suite = process.env['SUITE']

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  // The connectors import the packages by their names. In a checkout, these are their sources.
  resolve: {
    alias: {
      '@quartermaster/client': source('client/src/index.ts'),
      '@quartermaster/sync': source('connectors/sync/src/index.ts'),
    },
  },
  test: {
    include: suite === undefined ? Object.values(suites).flat() : (suites[suite] ?? []),
    // The files of a worker share its modules, which are loaded once: half of the CPU time of unit tests. Each file undoes what it
    // replaces.
    isolate: false,
    unstubGlobals: true,
    // A forgotten `it.only` would leave out all other tests of its file.
    allowOnly: false,
    ...(suite === 'unit'
      ? {}
      : { globalSetup: ['server/test/global-setup.ts'], setupFiles: ['server/test/setup.ts'] }),
    // By default vitest leaves one processor unused: half of a machine with two. Integration tests wait for servers and timeouts more
    // than they use a processor.
    maxWorkers: suite === 'integration' ? 3 : '100%',
    // Ends a run that never finishes. No test relies on it: a busy machine may take as long as it needs.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ['default', new SummaryReporter({ suite: suite ?? 'tests' })],
  },
})
