import { expect, it } from 'vitest'
import { EventLoopShares } from './event-loop-shares.ts'

it('runs one slice in each iteration of the event loop, for one account after the other', async () => {
  const shares = new EventLoopShares()
  const log: string[] = []
  let iteration = 0
  const count = () => {
    iteration++
    if (log.length < 7) setImmediate(count)
  }
  setImmediate(count)
  const body = async (account: string, slices: number) => {
    for (let slice = 1; slice <= slices; slice++) {
      await shares.next(account)
      log.push(`${iteration} ${account}${slice}`)
    }
  }
  await Promise.all([body('a', 2), body('a', 3), body('b', 2)])
  const iterations = log.map((line) => line.split(' ')[0])
  expect(new Set(iterations).size).toBe(7)
  expect(log.map((line) => line.split(' ')[1]?.slice(0, 1)).join('')).toBe('ababaaa')
})
