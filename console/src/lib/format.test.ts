import { expect, it } from 'vitest'
import { contactLink, groupedDecimal, isAmount } from './format.ts'

it('groups thousands and keeps every digit', () => {
  expect(groupedDecimal('1234567.5')).toBe('1,234,567.5')
  expect(groupedDecimal('-1000')).toBe('-1,000')
  expect(groupedDecimal('123456789012345678901234.123456789012')).toBe(
    '123,456,789,012,345,678,901,234.123456789012',
  )
  expect(groupedDecimal('1e21')).toBe('1e21')
})

it('groups amounts, not numbers that identify something', () => {
  const amounts = ['list_price', 'records', 'id', 'categ_id', 'x_year'].filter((name) =>
    isAmount({ name, type: name === 'list_price' ? 'decimal' : 'integer' }),
  )
  expect(amounts).toEqual(['list_price', 'records'])
})

it('links mail and telephone addresses, and nothing else', () => {
  const text = (name: string) => ({ name, type: 'text' as const })
  expect(contactLink(text('email'), 'orders+de@nordwind.example')).toBe('mailto:orders%2Bde@nordwind.example')
  expect(contactLink(text('phone'), '+49 (40) 5550-123')).toBe('tel:+49405550123')
  expect(contactLink(text('x_mobile'), '0171/5550 123')).toBe('tel:01715550123')
  expect(contactLink(text('email'), 'javascript:alert(1)')).toBeUndefined()
  expect(contactLink(text('email'), 'a@b.example?bcc=c@d.example')).toBeUndefined()
  expect(contactLink(text('phone'), 'ask Anna')).toBeUndefined()
  expect(contactLink(text('name'), 'a@b.example')).toBeUndefined()
})
