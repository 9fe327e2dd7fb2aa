import { expect, it } from 'vitest'
import { Batch } from './batch.ts'

it('separates the lines of ids that occur several times, in their order', () => {
  const batch = new Batch(0)
  const lines = [
    { line: 2, cells: ['1', 'a', '5'] },
    { line: 3, cells: ['2', 'bb', undefined] },
    { line: 4, cells: ['1'], isDelete: true as const },
    { line: 5, cells: ['3'], isDelete: true as const },
    { line: 6, cells: ['1', 'c', undefined] },
  ]
  for (const line of lines) batch.add(line)
  expect(batch.parts()).toEqual({
    rows: [lines[1]],
    deletes: [lines[3]],
    ordered: [lines[0], lines[2], lines[4]],
  })
  expect([batch.size, batch.characters]).toEqual([5, 10])
})
