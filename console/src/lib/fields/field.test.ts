import { expect, it } from 'vitest'
import { uniqueCandidates, uniqueTypes } from '../../../../server/src/fields/manage-fields.ts'
import { canBeUnique, fieldOf, fieldTypes, keyCandidates, nameFor } from './field.ts'

const form = {
  resource: 'product',
  kind: 'new',
  name: 'weight',
  type: 'decimal',
  label: ' Weight ',
  isUnique: true,
} as const

it('declares a field with its prefix, unique only if its type can be', () => {
  expect(fieldOf(form)).toEqual({
    resource: 'product',
    name: 'x_weight',
    type: 'decimal',
    label: 'Weight',
    unique: false,
  })
  expect(fieldOf({ ...form, name: 'x_sku', type: 'text' })).toMatchObject({ name: 'x_sku', unique: true })
})

it('makes a field of the service a key, without a type', () => {
  expect(fieldOf({ ...form, resource: 'partner', kind: 'existing', label: '' })).toEqual({
    resource: 'partner',
    name: 'email',
    label: '',
    unique: true,
  })
})

it('agrees with the service on what can be unique', () => {
  for (const resource of ['product', 'partner', 'company'] as const)
    expect([keyCandidates[resource]]).toEqual(uniqueCandidates(resource))
  expect(
    fieldTypes()
      .map(({ value }) => value)
      .filter(canBeUnique),
  ).toEqual(uniqueTypes)
})

it.each([
  ['Net weight (kg)', 'net_weight_kg'],
  ['Größe', 'grosse'],
  ['2nd name', 'nd_name'],
  ['x'.repeat(80), 'x'.repeat(59)],
])('suggests a name for %s', (label, name) => {
  expect(nameFor(label)).toBe(name)
})
