import { expect, it } from 'vitest'
import { Random } from '../../random.ts'
import { schedule } from './fault.ts'
import { primaryKilled, switchover } from './processes.ts'
import { diskFull } from './resources.ts'
import { allFaults } from './table.ts'

const kinds = { killed: primaryKilled, planned: switchover, once: diskFull }
const names = (count: number, seed: number) =>
  schedule(allFaults, kinds, count, new Random(seed)).map(({ name }) => name)

it('has every fault in a long run, the measured ones often, and the same order for a seed', () => {
  const long = names(60, 7)
  expect(long).toHaveLength(60)
  expect(new Set(long).size).toBe(allFaults.length)
  expect(long.filter((name) => name === primaryKilled.name)).toHaveLength(20)
  expect(long.filter((name) => name === switchover.name)).toHaveLength(10)
  expect(names(60, 7)).toEqual(long)
  expect(names(60, 8)).not.toEqual(long)
})

it('has the measured faults in a short run, too', () => {
  const short = names(10, 1)
  expect(short).toHaveLength(10)
  for (const { name } of Object.values(kinds)) expect(short).toContain(name)
})

it('has no fault twice in the table', () => {
  expect(new Set(allFaults.map(({ name }) => name)).size).toBe(allFaults.length)
})
