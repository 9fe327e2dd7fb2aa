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

it('begins a short run with the measured faults, because its last ones may be left out', () => {
  const measured = Object.values(kinds).map(({ name }) => name)
  expect(names(10, 1)).toHaveLength(10)
  for (const seed of [1, 2, 3]) expect(names(10, seed).slice(0, 3)).toEqual(measured)
  expect(names(2, 1)).toEqual(measured.slice(0, 2))
})

it('has no fault twice in the table', () => {
  expect(new Set(allFaults.map(({ name }) => name)).size).toBe(allFaults.length)
})
