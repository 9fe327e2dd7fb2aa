import { describe, expect, it } from 'vitest'
import type { Field, FieldType } from '../../api/catalog.ts'
import { faultOf, isSame, sentCell } from './values.ts'

const field = (type: FieldType, nullable = true): Field => ({ name: 'f', type, nullable, description: '' })

describe('a cell', () => {
  it.each([
    ['boolean', 'WAHR', 'service', 'true'],
    ['boolean', 'maybe', 'service', 'maybe'],
    ['decimal', '1.5', 'service', '1.5'],
    ['decimal', '-1.234.567,50', 'german', '-1234567.50'],
    ['decimal', '12,5', 'german', '12.5'],
    ['decimal', '1.5', 'german', '1.5'],
    ['integer', '1.234', 'german', '1234'],
    ['timestamp', '1.2.2026 09:30', 'german', '2026-02-01 09:30'],
    ['text', ' 1,5 ', 'german', ' 1,5 '],
  ] as const)('of the type %s, %s (%s), is sent as %s', (type, cell, notation, sent) => {
    expect(sentCell(field(type), cell, notation)).toBe(sent)
  })
  it('without a value is null, and an empty text stays one', () => {
    expect(sentCell(field('decimal'), ' ', 'service')).toBe(null)
    expect(sentCell(field('text'), '', 'service')).toBe('')
    expect(sentCell(field('text'), null, 'service')).toBe(null)
  })
  it.each([
    ['integer', '1.5', 'is not an integer'],
    ['decimal', 'cheap', 'is not a decimal number'],
    ['boolean', 'yes', 'is not true or false'],
    ['timestamp', 'yesterday', 'is not an ISO 8601 date'],
    ['timestamp', '2026-02-31T', 'is not an ISO 8601 date'],
  ] as const)('of the type %s, %s, %s', (type, cell, fault) => {
    expect(faultOf(field(type), cell)).toBe(fault)
  })
  it('has no fault if it is valid', () => {
    for (const [type, cell] of [
      ['integer', '-5'],
      ['decimal', '1.5e3'],
      ['timestamp', '2026-02-01'],
      ['timestamp', '2026-02-01 09:30:00'],
      ['text', ''],
    ] as const)
      expect(faultOf(field(type), cell)).toBe(undefined)
    expect(faultOf(field('text', false), null)).toBe('is required')
    expect(faultOf(field('text'), null)).toBe(undefined)
  })
})

it.each([
  ['decimal', '1.50', '1.5', true],
  ['decimal', '15e-1', '1.5', true],
  ['decimal', '-0.0', '0', true],
  ['decimal', '123456789012345678901234.5', '123456789012345678901234.6', false],
  ['timestamp', '2026-02-01', '2026-02-01T00:00:00.000Z', true],
  ['timestamp', '2026-02-01 09:30:00', '2026-02-01T09:30:00.000Z', true],
  ['timestamp', '2026-02-01T10:30:00+01:00', '2026-02-01T09:30:00.000Z', true],
  ['boolean', 'true', true, true],
  ['text', '', null, false],
  ['text', null, null, true],
  ['text', null, undefined, true],
  ['integer', '7', 7, true],
] as const)('of the type %s, %j and %j: the same is %j', (type, cell, value, same) => {
  expect(isSame(field(type), cell, value)).toBe(same)
})
