import { expect, it } from 'vitest'
import { Batch } from './batch.ts'

it('lays a later line over an earlier one of the same id, and keeps what it does not give', () => {
  const batch = new Batch()
  batch.add(['1', 'a', '5'])
  batch.add(['2', 'b', '6'])
  batch.add(['1', 'c', undefined])
  batch.add(['2', 'b', '6'])
  expect(batch.rows).toEqual([
    ['1', 'c', '5'],
    ['2', 'b', '6'],
  ])
  expect([batch.repeatsChanged, batch.repeatsUnchanged]).toEqual([1, 1])
})
