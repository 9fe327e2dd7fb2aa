import { expect, it } from 'vitest'
import { csvOf } from './csv.ts'

it('writes texts in quotes, null as an empty cell, and no formula', () => {
  const rows = [
    { id: 1, name: 'Pipe 5", "long"', price: -5, note: null },
    { id: 2, name: '=1+1', price: 0.5, note: '' },
  ]
  expect(csvOf(['id', 'name', 'price', 'note'], rows)).toBe(
    'id,name,price,note\r\n1,"Pipe 5"", ""long""",-5,\r\n2,"\'=1+1",0.5,""\r\n',
  )
})
