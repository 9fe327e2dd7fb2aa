import { expect, it } from 'vitest'
import { collections } from '../api/catalog.ts'
import { completionAt } from './completion.ts'

const { fields } = collections.product
const labels = (text: string) =>
  completionAt(text, text.length, fields)?.suggestions.map(({ label }) => label)

it('offers fields at the start, after a join and within a name', () => {
  expect(labels('')).toContain('list_price')
  expect(labels('active=true&')).toContain('list_price')
  expect(labels('(')).toContain('list_price')
  expect(completionAt('active=true&lis', 15, fields)?.from).toBe(12)
})

it('offers the operators of the type of the field', () => {
  expect(labels('name ')).toEqual(['*', '!*', '=', '!=', '[]', '![]'])
  expect(labels('categ_id ')).toEqual(['=', '!=', '>', '>=', '<', '<=', '[]', '![]', '=null', '!=null'])
  expect(labels('nope ')).toBeUndefined()
})

it('offers values of booleans, and null for a field that can be null', () => {
  expect(labels('active=')).toEqual(['true', 'false'])
  expect(labels('is_rsd_product=f')).toEqual(['true', 'false', 'null'])
  expect(labels('categ_id[3,')).toEqual(['null'])
  expect(labels('name=')).toEqual([])
})

it('offers joins after a complete condition', () => {
  expect(labels('active=true ')).toEqual(['&', '|'])
  expect(labels('id[1] ')).toEqual(['&', '|'])
})
