import { describe, expect, it } from 'vitest'
import { Faults } from '../errors/faults.ts'
import { parseParameters } from './parameters.ts'

const names = ['fields', 'filter', 'page', 'limit']

function parsed(raw: string): { parameters: Record<string, string>; codes: string[] } {
  const faults = new Faults()
  const parameters = Object.fromEntries(parseParameters(raw, names, faults))
  return { parameters, codes: faults.listed.map((fault) => `${fault.parameter}: ${fault.code}`) }
}

describe('parseParameters', () => {
  const same = { filter: 'list_price>10&active=true', limit: '5' }
  it.each([
    ['filter=list_price>10&active=true&limit=5', same],
    ['limit=5&filter=list_price>10&active=true', same],
    ['filter=list_price%3E10%26active%3Dtrue&limit=5', same],
    ['filter=list_price>10&&active=true&&limit=5&', same],
    ['', {}],
    ['&', {}],
    ['fields=', { fields: '' }],
    ['limit', { limit: '' }],
    ['filter=name=a+b%2Bc', { filter: 'name=a b+c' }],
    ['filter=name=%2526', { filter: 'name=%26' }],
    ['filter=a=1&limit>5&page=2', { filter: 'a=1&limit>5', page: '2' }],
    ['filter=a=1&Limit=5', { filter: 'a=1&Limit=5' }],
  ])('%s', (raw, parameters) => {
    expect(parsed(raw)).toEqual({ parameters, codes: [] })
  })

  it.each([
    ['limit=5&limit=6', ['limit: parameter_repeated']],
    ['filter=a=1&filter=b=2', ['filter: parameter_repeated']],
    ['sort=name', ['sort: parameter_unknown']],
    ['filter=a=1&limit=5&active=true', ['active: parameter_unknown']],
    ['filter=a%ZZ', ['filter: parameter_encoding']],
    ['fields=%ff', ['fields: parameter_encoding']],
    ['a=1&b=2', ['a: parameter_unknown', 'b: parameter_unknown']],
  ])('%s is rejected', (raw, codes) => {
    expect(parsed(raw).codes).toEqual(codes)
  })
})

it.each([
  ['x'.repeat(200_000), `${'x'.repeat(60)}…`],
  ['+'.repeat(200_000), `${' '.repeat(60)}…`],
  [`a${'%F0%9F%98%80'.repeat(20_000)}`, `a${'😀'.repeat(29)}…`],
  ['%E2%82%AC'.repeat(20_000), `${'€'.repeat(60)}…`],
  [`${'%41'.repeat(20_000)}%zz`, `${'A'.repeat(60)}…`],
])('quotes the beginning of a long unknown parameter (case %#)', (raw, shown) => {
  const faults = new Faults()
  parseParameters(raw, ['limit'], faults)
  expect(faults.listed[0]).toMatchObject({ parameter: shown, code: 'parameter_unknown' })
})
