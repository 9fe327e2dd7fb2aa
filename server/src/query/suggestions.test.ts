import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { Failure, type Fault } from '../errors/errors.ts'
import { parseListRequest } from './list-request.ts'
import { planList, withAcceptedSuggestions } from './plan.ts'

function faultsOf(query: Readonly<Record<string, string>>): readonly Fault[] {
  const raw = Object.entries(query)
    .map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
    .join('&')
  try {
    withAcceptedSuggestions(resources.product, () =>
      planList(resources.product, parseListRequest(raw, 'url')),
    )
    return []
  } catch (error) {
    if (error instanceof Failure) return error.faults
    throw error
  }
}
const suggestionsOf = (query: Readonly<Record<string, string>>) =>
  faultsOf(query).map(({ suggestion }) => suggestion)

describe('a suggestion', () => {
  it.each([
    ['id[]', [undefined]],
    ['id[1,]', [undefined]],
    ['name[]', ['name[""]']],
    ['nmae="x', ['name="x"']],
    [
      'active=yes&is_rsd_product=no',
      ['active=true&is_rsd_product=false', 'active=true&is_rsd_product=false'],
    ],
    ['active=yes&id=x', [undefined, undefined]],
    ['nmae=a&list_price>x', [undefined, undefined]],
  ])('for %s is %j', (filter, suggestions) => {
    expect(suggestionsOf({ filter })).toEqual(suggestions)
  })
  it('for fields has only names that exist', () => {
    expect(suggestionsOf({ fields: 'id,,nmae' })).toEqual(['id,name'])
    expect(suggestionsOf({ fields: 'nmae,xyzzy' })).toEqual([undefined, undefined])
  })
  const names = ['id', 'name', 'nmae', 'active', 'list_price', 'create_date', 'unknown']
  const signs = [
    '=',
    '!=',
    '<',
    '>=',
    '*',
    '[',
    ']',
    '![',
    '[]',
    '(',
    ')',
    '&',
    '|',
    ',',
    '"',
    '\\',
    ' ',
    '<>',
  ]
  const values = ['1', 'x', 'yes', 'true', 'null', '2026-01-01 10:00', '1e9999', ' and ', "'a'", ' like ']
  const part = fc.constantFrom(...names, ...signs, ...values)
  const condition = fc
    .tuple(
      fc.constantFrom('id', 'nmae', 'name', 'active', 'list_price', 'create_date', 'unknown'),
      fc.constantFrom('=', '!=', '>', '*', '<>', '[', '!['),
      fc.constantFrom('', '1', 'x', '"x', 'yes', 'null', '1,2]', ']', '1,]', '2026-01-01 10:00', "'a'"),
    )
    .map((parts) => parts.join(''))
  const filters = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 12 }),
    fc.array(fc.oneof(condition, fc.constantFrom('&', '|', '(', ')', ' and ')), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  it('for any broken filter is accepted', () => {
    let suggested = 0
    fc.assert(
      fc.property(filters, (parts) => {
        for (const filter of suggestionsOf({ filter: parts.join('') })) {
          if (filter === undefined) continue
          suggested += 1
          expect(faultsOf({ filter }), filter).toEqual([])
        }
      }),
      { numRuns: 5_000 },
    )
    expect(suggested).toBeGreaterThan(100)
  })
  it('for any broken list of fields is accepted', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), (parts) => {
        for (const fields of suggestionsOf({ fields: parts.join(',') }))
          if (fields !== undefined) expect(faultsOf({ fields }), fields).toEqual([])
      }),
    )
  })
})
