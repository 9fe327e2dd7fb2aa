import { expect, it } from 'vitest'
import { accountHash } from './worker-nodes.ts'

it.each([
  [1n, -1905060026],
  [2n, 1134484726],
  [42n, 1509752520],
  [1_000_000n, -723906379],
  [4_294_967_296n, -1905060026],
  [9_007_199_254_740_991n, 2016522077],
])('the hash of account %s is that of hashint8', (id, hash) => {
  expect(accountHash(id)).toBe(hash)
})
