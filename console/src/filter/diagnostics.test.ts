import { expect, it } from 'vitest'
import { collections } from '../api/catalog.ts'
import { withOwnFields } from '../api/own-fields.ts'
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

it('leaves names of declared fields to the service while their definitions are missing', () => {
  const incomplete = withOwnFields(collections.product, undefined)
  expect(check('x_sku=a&sku=b', incomplete).diagnostics).toMatchObject([{ offset: 8, length: 3 }])
  const none = withOwnFields(collections.product, { product: [], partner: [], company: [] })
  expect(check('x_sku=a', none).diagnostics).toMatchObject([{ offset: 0, length: 5 }])
})

it('accepts an empty filter', () => {
  expect(check('  ', collections.product)).toEqual({ filter: undefined, diagnostics: [] })
})
