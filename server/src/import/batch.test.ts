import { expect, it } from 'vitest'
import { Batch } from './batch.ts'

it('merges a later line over an earlier one with the same id; absent fields do not change', () => {
  const batch = new Batch()
  batch.add({ line: 2, cells: ['1', 'a', '5'] })
  batch.add({ line: 3, cells: ['2', 'b', '6'] })
  batch.add({ line: 4, cells: ['1', 'c', undefined] })
  batch.add({ line: 5, cells: ['2', 'b', '6'] })
  expect(batch.rows).toEqual([
    ['1', 'c', '5'],
    ['2', 'b', '6'],
  ])
  expect(batch.lines).toEqual([4, 5])
  expect([batch.repeatsChanged, batch.repeatsUnchanged]).toEqual([1, 1])
})
