import { expect, it } from 'vitest'
import { decimalText, type Field, printOf } from './values.ts'

it.each([
  [0.1 + 0.2, '0.3'],
  [12.5, '12.5'],
  [-0, '0'],
  [-0.0000001, '0'],
  [100, '100'],
  ['12.500000', '12.5'],
  ['100', '100'],
  ['1.0', '1'],
  ['99999999999999.999999', '99999999999999.999999'],
])('%s as a decimal is %s', (value, text) => {
  expect(decimalText(value)).toBe(text)
})

const fields: readonly Field[] = [
  { name: 'price', kind: 'decimal' },
  { name: 'at', kind: 'timestamp' },
  { name: 'name', kind: 'text' },
  { name: 'active', kind: 'boolean' },
]

it('the print of a record is that of its row, whatever form both have', () => {
  const row = { price: 0.30000000000000004, at: '2026-03-01T10:00:00Z', name: 'Bolt', active: true }
  const here = { price: '0.300000', at: '2026-03-01T10:00:00.000Z', name: 'Bolt', active: true, id: 7 }
  expect(printOf(fields, row)).toBe(printOf(fields, here))
})

it.each([{ price: 0.31 }, { at: null }, { name: 'bolt' }, { name: null }, { active: false }])(
  'the print is another one with %o',
  (other) => {
    const row = { price: 0.3, at: '2026-03-01T10:00:00Z', name: 'Bolt', active: true }
    expect(printOf(fields, { ...row, ...other })).not.toBe(printOf(fields, row))
  },
)
