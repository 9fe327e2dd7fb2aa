import { expect, it } from 'vitest'
import type { Field } from '../../api/catalog.ts'
import { rowJson, rowsJson, rowsNdjson } from './record-json.ts'

const fields: readonly Field[] = [
  { name: 'name', type: 'text', nullable: false, description: '' },
  { name: 'price', type: 'decimal', nullable: true, description: '' },
]

it('writes JSON as JSON.stringify does', () => {
  const rows = [{ id: 1, name: 'two\nlines "1"', price: null, scopes: ['a', 'b'] }, {}, { name: '5' }]
  expect(rowsJson(fields, rows)).toBe(JSON.stringify(rows, null, 2))
  expect(rowsJson(fields, [])).toBe('[]')
})

it('writes a decimal as a number with every digit', () => {
  const price = '123456789012345678901234.123456789012'
  expect(rowJson(fields, { name: '1', price })).toBe(`{\n  "name": "1",\n  "price": ${price}\n}`)
})

it('writes NDJSON with a row on each line', () => {
  const price = '123456789012345678901234.5'
  expect(rowsNdjson(fields, [{ id: 1, name: 'two\nlines', price, tags: ['a'] }, { id: 2 }])).toBe(
    `{"id":1,"name":"two\\nlines","price":${price},"tags":["a"]}\n{"id":2}\n`,
  )
})
