import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { collectSetting, integerBetween, parseExpiry, parseProcesses, parseScopes } from './arguments.ts'

const now = new Date('2026-11-14T09:30:00Z')

describe('--expires', () => {
  test.each([
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T12:30:00Z', '2027-01-01T12:30:00.000Z'],
    ['90d', '2027-02-12T09:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(parseExpiry(text, now).toISOString()).toBe(expected)
  })

  test.each([
    '',
    'tomorrow',
    '90',
    '2027-02-29',
    '2027-1-1',
    '2027-01-01T12:30:00',
    '2026-11-14',
    '0d',
    '-1d',
  ])('%j is rejected', (text) => {
    expect(() => parseExpiry(text, now)).toThrow()
  })
})

test('--scopes is a list of known scopes', () => {
  expect(parseScopes('product:read, partner:create')).toEqual(['product:read', 'partner:create'])
  expect(() => parseScopes('product:change')).toThrow('"product:change" is not a scope')
  expect(() => parseScopes('')).toThrow()
})

test('an integer must be within bounds', () => {
  expect(integerBetween(0, 65_535)('0')).toBe(0)
  for (const text of ['', '-1', '1.5', '65536', '1e3', ' 1']) {
    expect(() => integerBetween(0, 65_535)(text)).toThrow('It must be an integer from 0 to 65535.')
  }
})

test('-c can be repeated', () => {
  const first = collectSetting('work_mem=64MB', {})
  expect(collectSetting('log_line_prefix=a=b', first)).toEqual({ work_mem: '64MB', log_line_prefix: 'a=b' })
  expect(() => collectSetting('work_mem', {})).toThrow()
})

test('--processes is a number from 1 to 32, or one per CPU', () => {
  expect(parseProcesses('1')).toBe(1)
  expect(parseProcesses('32')).toBe(32)
  expect(parseProcesses('auto')).toBe(Math.min(availableParallelism(), 32))
  for (const text of ['0', '33', 'many', '1.5', '', '-1'])
    expect(() => parseProcesses(text)).toThrow('It must be a number from 1 to 32, or auto.')
})
