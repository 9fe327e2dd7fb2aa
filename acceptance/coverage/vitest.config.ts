import { defineConfig } from 'vitest/config'

/** Needs no service: part of `npm run check`. */
export default defineConfig({
  test: { root: import.meta.dirname, include: ['*.test.ts'] },
})
