import { expect, it } from 'vitest'
import { collections } from '../api/catalog.ts'
import { isSortable, labelOf, meaningOf } from './labels.ts'

const own = { name: 'x_vat', type: 'text', nullable: true, description: 'VAT number' } as const

it('labels fields for people, and every field of a list differently', () => {
  expect(collections.partner.fields.map(labelOf)).toEqual([
    'ID',
    'Name',
    'Company',
    'Patient',
    'Customer',
    'Vendor',
    'Employee',
    'Email',
    'Phone',
    'Active',
    'Created',
    'Changed',
  ])
  for (const { fields } of Object.values(collections))
    expect(new Set(fields.map(labelOf)).size).toBe(fields.length)
})

it('uses the label of a declared field, otherwise its name', () => {
  expect(labelOf(own)).toBe('VAT number')
  expect(labelOf({ ...own, description: '' })).toBe('x_vat')
  expect(labelOf({ ...own, description: 'A field of this account.' })).toBe('x_vat')
  expect(meaningOf(own)).toBe('x_vat (text)')
})

it('offers an order only where the service has one', () => {
  expect(isSortable('product', { name: 'name' })).toBe(true)
  expect(isSortable('product', own)).toBe(false)
  expect(isSortable('request', { name: 'at' })).toBe(false)
})
