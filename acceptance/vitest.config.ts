import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: ['./global-setup.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
