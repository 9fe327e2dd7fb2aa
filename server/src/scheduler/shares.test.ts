import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { EventLoopShares, RequestTurns } from './shares.ts'

const { iterationRequestsMax, acceptedPerRequest } = limits

/** Requests by name, in the order in which they start. */
function turns() {
  const started: string[] = []
  const requests = new RequestTurns()
  const add = (account: string, count: number) => {
    for (let n = 1; n <= count; n++) requests.run(account, () => started.push(`${account}${n}`))
  }
  return { requests, started, add }
}

it('starts a limited number of requests in an iteration, at once as long as none waits', async () => {
  const { started, add } = turns()
  add('a', iterationRequestsMax * 2 + 1)
  expect(started).toHaveLength(iterationRequestsMax)
  await nextIteration()
  expect(started).toHaveLength(iterationRequestsMax * 2)
  await nextIteration()
  expect(started).toHaveLength(iterationRequestsMax * 2 + 1)
  await nextIteration()
  add('b', 1)
  expect(started.at(-1)).toBe('b1')
})

it('starts requests of one account after the other', async () => {
  const { started, add } = turns()
  add('a', iterationRequestsMax + 1000)
  add('b', 2)
  add('c', 1)
  await nextIteration()
  expect(started.slice(iterationRequestsMax, iterationRequestsMax + 6)).toEqual([
    `a${iterationRequestsMax + 1}`,
    'b1',
    'c1',
    `a${iterationRequestsMax + 2}`,
    'b2',
    `a${iterationRequestsMax + 3}`,
  ])
})

it('starts one request for some connections while connections arrive', async () => {
  const { requests, started, add } = turns()
  requests.onConnection()
  add('a', 3)
  for (let accepted = 1; accepted < acceptedPerRequest; accepted++) {
    expect(started).toEqual([])
    requests.onConnection()
    await nextIteration()
  }
  expect(started).toEqual(['a1'])
  await nextIteration()
  expect(started).toEqual(['a1', 'a2', 'a3'])
})

it('forgets requests that were started', async () => {
  const { started, add } = turns()
  add('a', 5000)
  while (started.length < 5000) await nextIteration()
  await nextIteration()
  add('a', 1)
  expect(started).toHaveLength(5001)
})

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
