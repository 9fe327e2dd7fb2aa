import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['./global-setup.ts'],
    pool: 'threads',
    isolate: false,
    // By default vitest leaves one processor unused: half of a machine with two.
    maxWorkers: '100%',
    // Ends a run that never finishes. No test relies on it: a busy machine may take as long as it needs.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
})
