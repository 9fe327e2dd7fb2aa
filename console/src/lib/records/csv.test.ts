import { expect, it } from 'vitest'
import type { Field } from '../../api/catalog.ts'
import { csvOf } from './csv.ts'

const field = (name: string, type: Field['type']): Field => ({ name, type, nullable: true, description: '' })
const fields = [
  field('id', 'integer'),
  field('name', 'text'),
  field('price', 'decimal'),
  field('note', 'text'),
  field('at', 'timestamp'),
]

it('writes texts in quotes, null as an empty cell, every digit of a decimal, and no formula', () => {
  const rows = [
    { id: 1, name: 'Pipe 5", "long"', price: '-5', note: null, at: '2026-11-14T09:30:00.000Z' },
    { id: 2, name: '=1+1', price: '123456789012345678901234.123456789012', note: '', at: null },
    { id: 3, name: "'s-Hertogenbosch", price: '0.5', note: "'-5", at: null },
    { id: 4, name: 'x;=1\n@y', price: '0.5', note: "'", at: null },
  ]
  expect(csvOf(fields, rows)).toBe(
    [
      "id,'name,price,'note,at",
      '1,"Pipe 5"", ""long""",-5,,2026-11-14T09:30:00.000Z',
      `2,"'=1+1",123456789012345678901234.123456789012,"'",`,
      `3,"'s-Hertogenbosch",0.5,"''-5",`,
      `4,"x;'=1\n'@y",0.5,"''",`,
      '',
    ].join('\r\n'),
  )
})
