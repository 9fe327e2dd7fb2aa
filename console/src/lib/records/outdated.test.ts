import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { withOwnFields } from '../../api/own-fields.ts'
import { isOutdatedBy, unknownOwnNames } from './outdated.ts'

const sku = { name: 'x_sku', type: 'text', nullable: true, description: 'SKU' } as const
const products = withOwnFields(collections.product, { product: [sku], partner: [], company: [] })

it('notices a declared field in a record, or in a filter that the service accepted', () => {
  expect(isOutdatedBy(products, {}, [{ id: 1, x_sku: null, x_new: null }])).toBe(true)
  expect(isOutdatedBy(products, { filter: 'x_new=null|x_sku=a' }, [])).toBe(true)
})

it('notices a deleted field, if the request was for every field', () => {
  expect(isOutdatedBy(products, {}, [{ id: 1 }])).toBe(true)
  expect(isOutdatedBy(products, { fields: 'id' }, [{ id: 1 }])).toBe(false)
})

it('trusts definitions that fit, and an empty list', () => {
  expect(isOutdatedBy(products, { filter: 'name="x_new"&x_sku*a' }, [{ id: 1, x_sku: 'a' }])).toBe(false)
  expect(isOutdatedBy(products, {}, [])).toBe(false)
})

it('finds the declared fields that the service no longer has, by their positions', () => {
  const faults = [
    { parameter: 'fields', code: 'field_unknown', message: '', offset: 3, length: 6 },
    { parameter: 'filter', code: 'field_unknown', message: '', offset: 0, length: 5 },
    { parameter: 'fields', code: 'field_unknown', message: '', offset: 10, length: 4 },
    { parameter: 'filter', code: 'value_invalid', message: '', offset: 0, length: 5 },
  ]
  const parameters = { fields: 'id,x_gone,nope', filter: 'x_sku>3' }
  expect(unknownOwnNames(faults, parameters)).toEqual(['x_gone', 'x_sku'])
})
