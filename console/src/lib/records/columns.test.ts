import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { columnWidths, fieldsOf, fieldsParameter, moved } from './columns.ts'

const { company } = collections

it('shows all fields by default, and otherwise those of the parameter in its order', () => {
  expect(fieldsOf(company, undefined)).toBe(company.fields)
  expect(fieldsOf(company, 'name,id,nope').map(({ name }) => name)).toEqual(['name', 'id', 'nope'])
})

it('omits the parameter for all fields in their own order', () => {
  const names = company.fields.map(({ name }) => name)
  expect(fieldsParameter(company, names)).toBeUndefined()
  expect(fieldsParameter(company, ['name', 'id'])).toBe('name,id')
})

it('moves a column before another one, or to the end', () => {
  expect(moved(['a', 'b', 'c'], 'c', 'a')).toEqual(['c', 'a', 'b'])
  expect(moved(['a', 'b', 'c'], 'a', undefined)).toEqual(['b', 'c', 'a'])
})

it('makes a column as wide as its contents, within bounds', () => {
  const [id = 0, name = 0] = columnWidths(company.fields.slice(0, 2), [{ id: 1, name: 'x'.repeat(200) }])
  expect(id).toBe(72)
  expect(name).toBe(340)
})
