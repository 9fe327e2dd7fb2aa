import { expect, it } from 'vitest'
import { backoff, withJitter } from './backoff.ts'

it('doubles with every failure up to the maximum', () => {
  expect([1, 2, 3, 4, 5, 10_000].map((failures) => backoff(failures, 50, 500))).toEqual([
    50, 100, 200, 400, 500, 500,
  ])
})

it('varies between half and all of the wait', () => {
  expect([0, 0.5, 1].map((random) => withJitter(400, () => random))).toEqual([200, 300, 400])
})
