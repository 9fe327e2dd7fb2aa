import { describe, expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { boundedTerms, ErasedValues, everything, type LoggedTexts } from './logged-values.ts'

const terms = ['Ada Lovelace', 'ada@analytical.example', '+44 20 7946 0991', '4711', '王芳', 'A']
const partners = '/api/v1/resources/partner'
const entry = (given: Partial<LoggedTexts>): LoggedTexts => ({
  path: partners,
  query: null,
  filter: null,
  error_detail: null,
  ...given,
})
const without = (given: Partial<LoggedTexts>) => new ErasedValues(terms, 'partner').removedFrom(entry(given))

describe('withoutTerms', () => {
  it.each([
    'name="Ada Lovelace"',
    'active=true&(is_company=false|name*"ada love")',
    'email=ADA@analytical.example',
    'email*analytical',
    'x_card=4711',
    'name=王芳',
    'name=A',
    'name[]["Grace","Ada Lovelace"]',
    'name="Dear Ada Lovelace, hello"',
  ])('removes the filter %s, and what an error says about it', (filter) => {
    expect(without({ filter, error_detail: 'at 3' })).toEqual(
      entry({ filter: '[erased]', error_detail: '[erased]' }),
    )
  })

  it.each(['active=true', 'id>47', 'name=Grace', 'name*d', 'write_date>2026-01-01T00:00:00Z'])(
    'keeps the filter %s',
    (filter) => {
      expect(without({ filter })).toBeUndefined()
    },
  )

  it('removes a filter that cannot be read from requests to the resource only', () => {
    expect(without({ filter: 'name="Ad' })?.filter).toBe('[erased]')
    const path = '/api/v1/inventory/product'
    expect(
      new ErasedValues(terms, 'partner').removedFrom(entry({ path, filter: 'name="Ad' })),
    ).toBeUndefined()
  })

  it('removes all entries of requests to the resource if the record has more values than can be searched for', () => {
    const many = Array.from({ length: limits.erasureTermsMax + 1 }, (_, i) => `value ${i}`)
    expect(boundedTerms(many.slice(1))).toEqual(many.slice(1))
    expect(boundedTerms(many)).toEqual([everything, ...many.slice(0, -1)])
    const long = ['x'.repeat(limits.erasureTermCharactersMax), 'y']
    expect(boundedTerms(long)).toEqual([everything, long[0]])
    const values = new ErasedValues(boundedTerms(many), 'partner')
    const asked = { filter: 'name=Grace', query: 'fields=name', error_detail: null }
    expect(values.removedFrom(entry(asked))).toEqual({
      path: '[erased]',
      query: '[erased]',
      filter: '[erased]',
      error_detail: null,
    })
    const path = '/api/v1/inventory/product'
    expect(values.removedFrom(entry({ ...asked, path }))).toBeUndefined()
    expect(values.removedFrom(entry({ path, filter: 'name="value 7"' }))?.filter).toBe('[erased]')
  })

  it('removes paths, parameters and errors that have a value, also the truncated beginning of one', () => {
    expect(without({ path: `${partners}/email/ada@analytical.example` })?.path).toBe('[erased]')
    expect(without({ path: `${partners}/name/王芳` })?.path).toBe('[erased]')
    expect(without({ query: 'search=ada lovelace' })?.query).toBe('[erased]')
    expect(without({ error_detail: 'email "ada@analytical.example" is that of partner 5.' })).toEqual(
      entry({ error_detail: '[erased]' }),
    )
    const long = `Jo "${'x'.repeat(80)}`
    const detail = `name ${JSON.stringify(`${long.slice(0, 60)}…`)} is too long.`
    expect(
      new ErasedValues([long], 'partner').removedFrom(entry({ error_detail: detail }))?.error_detail,
    ).toBe('[erased]')
    expect(
      without({ path: `${partners}/5`, query: 'fields=name', error_detail: 'A partner.' }),
    ).toBeUndefined()
  })
})
