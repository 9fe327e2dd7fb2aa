import { expect, it } from 'vitest'
import { directionOf, nextSort } from './sort.ts'

it('orders ascending, then descending, then by id again', () => {
  expect(nextSort(undefined, 'name')).toBe('name')
  expect(nextSort('name', 'name')).toBe('-name')
  expect(nextSort('-name', 'name')).toBeUndefined()
  expect(nextSort('-name', 'list_price')).toBe('list_price')
})

it('starts in the order of ids', () => {
  expect(directionOf(undefined, 'id')).toBe('ascending')
  expect(nextSort(undefined, 'id')).toBe('-id')
  expect(nextSort('-id', 'id')).toBeUndefined()
  expect(directionOf('name', 'id')).toBeUndefined()
  expect(directionOf('-name', 'name')).toBe('descending')
})
