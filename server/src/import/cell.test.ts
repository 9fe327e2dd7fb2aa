import { describe, expect, it } from 'vitest'
import type { Field } from '../catalog/field.ts'
import { resources } from '../catalog/resources.ts'
import { JsonNumber } from '../writes/exact-json.ts'
import { cellOfCsv, cellOfJson } from './cell.ts'

function field(name: string, resource: 'product' | 'partner' | 'company' = 'product'): Field {
  const found = resources[resource].fields.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const csv = (name: string, text: string, quoted = false) => cellOfCsv(field(name), text, quoted)

describe('an empty CSV cell', () => {
  it('is null if the field is nullable', () => {
    expect(csv('default_code', '')).toBe('\\N')
    expect(csv('categ_id', '')).toBe('\\N')
  })
  it('in quotes is the empty text for a text field, and null for other types', () => {
    expect(csv('default_code', '', true)).toBe('')
    expect(csv('categ_id', '', true)).toBe('\\N')
  })
  it('is rejected if the field is required, as null is in NDJSON', () => {
    const reason = 'is required; in CSV, an empty text is written as ""'
    expect(csv('name', '')).toEqual({ reason })
    expect(cellOfCsv(field('branch_user', 'company'), '', false)).toEqual({ reason })
    expect(cellOfCsv(field('branch_user', 'company'), '', true)).toBe('')
    expect(cellOfJson(field('name'), null)).toEqual({ reason: 'is required' })
    expect(csv('list_price', '')).toEqual({ reason: 'is required' })
    expect(csv('active', '', true)).toEqual({ reason: 'is required' })
  })
})

describe('a decimal', () => {
  it.each([
    ['12.50', '12.5'],
    ['0.000', '0'],
    ['-0', '0'],
    ['-0.10', '-0.1'],
    ['100', '100'],
    ['1e3', '1000'],
    ['1.25E-3', '0.00125'],
    ['12345e-2', '123.45'],
    ['0e99999', '0'],
    ['0.1e1', '1'],
    ['999999999999999999999999.999999999999', '999999999999999999999999.999999999999'],
    ['1.0000000000000000', '1'],
  ])('%s is stored as %s', (text, stored) => {
    expect(csv('list_price', text)).toBe(stored)
  })
  it.each(['1000000000000000000000000', '1e24', '1e999999999'])(
    '%s has too many digits before the point',
    (text) => {
      expect(csv('list_price', text)).toEqual({ reason: 'has more than 24 digits before the point' })
    },
  )
  it.each(['0.0000000000001', '1e-13', '1e-999999999'])('%s has too many digits after the point', (text) => {
    expect(csv('list_price', text)).toEqual({ reason: 'has more than 12 digits after the point' })
  })
  it.each(['+1', '.5', '5.', '01', '1,5', 'NaN', 'Infinity', ' 1', '0x10'])('%s is rejected', (text) => {
    expect(csv('list_price', text)).toEqual({ reason: 'is not a decimal number' })
  })
})

describe('an integer', () => {
  it.each([
    ['-9007199254740991', '-9007199254740991'],
    ['-0', '0'],
  ])('%s is stored as %s', (text, stored) => {
    expect(csv('categ_id', text)).toBe(stored)
  })
  it.each([
    ['categ_id', '9007199254740992', 'is beyond ±9007199254740991'],
    ['categ_id', '1.0', 'is not an integer'],
    ['categ_id', '1e3', 'is not an integer'],
    ['id', '0', 'is below 1'],
    ['id', '-5', 'is below 1'],
  ])('%s %s %s', (name, text, reason) => {
    expect(csv(name, text)).toEqual({ reason })
  })
})

describe('a text', () => {
  it('is escaped for COPY', () => {
    expect(csv('name', 'a\tb\nc\rd\\N')).toBe('a\\tb\\nc\\rd\\\\N')
    expect(csv('name', '\\N')).toBe('\\\\N')
  })
  it('is measured in characters, not in UTF-16 code units', () => {
    expect(csv('default_code', '🔩'.repeat(128))).toBe('🔩'.repeat(128))
    expect(csv('default_code', '🔩'.repeat(129))).toEqual({
      reason: 'has 129 characters; at most 128 are allowed',
    })
  })
  it('is rejected if PostgreSQL cannot store it', () => {
    expect(csv('name', 'a\0b')).toEqual({ reason: 'has a NUL character' })
    expect(cellOfJson(field('name'), '\ud83d')).toEqual({
      reason: 'has an unpaired surrogate, which is not a character',
    })
  })
})

describe('a timestamp', () => {
  it.each([
    ['2026-11-14', '2026-11-14T00:00:00.000Z'],
    ['2026-11-14T09:30', '2026-11-14T09:30:00.000Z'],
    ['2026-11-14T09:30:00.5', '2026-11-14T09:30:00.500Z'],
    ['2026-11-14T09:30:00.123000Z', '2026-11-14T09:30:00.123Z'],
    ['2026-11-14T09:30:00+02:00', '2026-11-14T07:30:00.000Z'],
    ['2026-11-14 09:30:00-0530', '2026-11-14T15:00:00.000Z'],
    ['2026-11-14 09:30:00+00', '2026-11-14T09:30:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ])('%s is stored as %s', (text, stored) => {
    expect(csv('create_date', text)).toBe(stored)
  })
  it.each([
    '2026-02-29',
    '2026-13-01',
    '2026-11-14T24:00',
    '0001-01-01T00:00+01:00',
    '0000-12-31',
    '14.11.2026',
    'now',
  ])('%s is rejected', (text) => {
    expect(csv('create_date', text)).toEqual({
      reason: 'is not an ISO 8601 date or date-time that exists in the years 0001 to 9999',
    })
  })
  it('is rejected if it is more precise than milliseconds', () => {
    expect(csv('create_date', '2026-11-14T09:30:00.1234Z')).toEqual({ reason: 'is finer than milliseconds' })
  })
})

describe('a JSON value', () => {
  it('must have the type of the field', () => {
    expect(cellOfJson(field('active'), true)).toBe('true')
    expect(cellOfJson(field('categ_id'), new JsonNumber('7'))).toBe('7')
    expect(cellOfJson(field('list_price'), '12.50')).toBe('12.5')
    expect(cellOfJson(field('default_code'), null)).toBe('\\N')
  })
  it.each([
    ['active', 'true', 'is not a boolean'],
    ['categ_id', '7', 'is not an integer'],
    ['name', new JsonNumber('7'), 'is not a text'],
    ['name', { a: 1 }, 'is not a text'],
    ['create_date', new JsonNumber('2026'), 'is not a timestamp'],
    ['name', null, 'is required'],
  ])('%s rejects %j', (name, value, reason) => {
    expect(cellOfJson(field(name), value)).toEqual({ reason })
  })
  it('a CSV boolean is true or false', () => {
    expect(csv('active', 'false')).toBe('false')
    expect(csv('active', 't')).toEqual({ reason: 'is not true or false' })
  })
})
