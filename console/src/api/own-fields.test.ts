import { expect, it } from 'vitest'
import { collections } from './catalog.ts'
import { type ApiDocument, ownFieldsOf, quoteInexact, withOwnFields } from './own-fields.ts'

const document: ApiDocument = {
  components: {
    schemas: {
      Product: {
        properties: {
          id: { type: 'integer', format: 'int64' },
          x_weight: { type: ['number', 'null'], description: 'Weight in kg' },
          x_sku: { type: ['string', 'null'], description: 'SKU' },
          x_count: { type: ['integer', 'null'], format: 'int64', description: 'A field of this account.' },
          x_fragile: { type: ['boolean', 'null'] },
          x_checked: { type: ['string', 'null'], format: 'date-time', description: 'Checked' },
        },
      },
      Partner: { properties: { name: { type: 'string' } } },
    },
  },
}

it('finds the declared fields in their order, with their types and labels', () => {
  const { product, partner, company } = ownFieldsOf(document)
  expect(product).toEqual([
    { name: 'x_weight', type: 'decimal', nullable: true, description: 'Weight in kg' },
    { name: 'x_sku', type: 'text', nullable: true, description: 'SKU' },
    { name: 'x_count', type: 'integer', nullable: true, description: 'A field of this account.' },
    { name: 'x_fragile', type: 'boolean', nullable: true, description: '' },
    { name: 'x_checked', type: 'timestamp', nullable: true, description: 'Checked' },
  ])
  expect([partner, company]).toEqual([[], []])
})

it('rejects a type that it cannot show', () => {
  const schemas = { Product: { properties: { x_list: { type: 'array' } } } }
  expect(() => ownFieldsOf({ components: { schemas } })).toThrow('unknown type "array"')
})

it('puts declared fields after those of the service, and says if they are unknown', () => {
  const { fields, isComplete } = withOwnFields(collections.product, ownFieldsOf(document))
  expect(fields.slice(-6).map(({ name }) => name)).toEqual([
    'write_date',
    'x_weight',
    'x_sku',
    'x_count',
    'x_fragile',
    'x_checked',
  ])
  expect(isComplete).toBe(true)
  expect(withOwnFields(collections.product, undefined).isComplete).toBe(false)
  expect(withOwnFields(collections.audit, undefined).isComplete).toBe(true)
})

it('keeps every digit of a declared number, and changes no other text', () => {
  expect(quoteInexact('{"x_a":123456789012345678901.5,"x_b":12.50,"x_c":-7,"x_d":0.25}')).toBe(
    '{"x_a":"123456789012345678901.5","x_b":"12.50","x_c":-7,"x_d":0.25}',
  )
  const text = JSON.stringify({ name: '"x_a":1.50', id: 9_007_199_254_740_991, x_t: '1.50', x_n: null })
  expect(quoteInexact(text)).toBe(text)
})
