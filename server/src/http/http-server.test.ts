import { expect, it } from 'vitest'
import { RequestFlows } from './http-server.ts'

it('an account has its share if it has at least as many requests in flight as the average', () => {
  const flows = new RequestFlows()
  const first = flows.enter('many')
  const other = flows.enter('few')
  const many = [first, ...Array.from({ length: 89 }, () => flows.enter('many'))]
  const few = [other, ...Array.from({ length: 4 }, () => flows.enter('few'))]
  expect([flows.hasShare(first), flows.hasShare(other)]).toEqual([true, false])
  for (const flow of many.slice(6)) flows.leave(flow)
  expect([flows.hasShare(first), flows.hasShare(other)]).toEqual([true, false])
  for (const flow of many.slice(0, 6)) flows.leave(flow)
  expect(flows.hasShare(other)).toBe(true)
  for (const flow of few) flows.leave(flow)
  expect(flows.hasShare(flows.enter('few'))).toBe(true)
})
