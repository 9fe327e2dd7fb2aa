import { expect, it } from 'vitest'
import { deletesMax } from './stop.ts'

it.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [8, 4],
  [30, 10],
  [1_000, 10],
  [5_000, 50],
  [1_000_000, 10_000],
])('of %i records, a sweep deletes up to %i without asking', (known, limit) => {
  expect(deletesMax(known)).toBe(limit)
})
