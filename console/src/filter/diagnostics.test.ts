import { expect, it } from 'vitest'
import { collections } from '../api/catalog.ts'
import { check } from './diagnostics.ts'

const places = (text: string) =>
  check(text, collections.product).diagnostics.map(({ offset, length }) =>
    text.slice(offset, offset + length),
  )

it('finds a syntax error at the offset of the parser', () => {
  const { diagnostics, filter } = check('categ_id[3,7&active=true', collections.product)
  expect(filter).toBeUndefined()
  expect(diagnostics).toMatchObject([{ offset: 12, length: 1, suggestion: 'categ_id[3,7]&active=true' }])
})

it('finds unknown fields and operators that a type does not have', () => {
  expect(places('active=true&(list_prise>10|name>5)')).toEqual(['list_prise', '>'])
  expect(places('active=true&list_price>10')).toEqual([])
})

it('accepts an empty filter', () => {
  expect(check('  ', collections.product)).toEqual({ filter: undefined, diagnostics: [] })
})
