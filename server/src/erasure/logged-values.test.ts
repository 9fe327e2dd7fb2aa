import { describe, expect, it } from 'vitest'
import { type LoggedTexts, withoutTerms } from './logged-values.ts'

const terms = ['Ada Lovelace', 'ada@analytical.example', '+44 20 7946 0991', '4711', '王芳', 'A']
const partners = '/api/v1/resources/partner'
const entry = (given: Partial<LoggedTexts>): LoggedTexts => ({
  path: partners,
  query: null,
  filter: null,
  error_detail: null,
  ...given,
})
const without = (given: Partial<LoggedTexts>) => withoutTerms(entry(given), terms, 'partner')

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
    expect(withoutTerms(entry({ path, filter: 'name="Ad' }), terms, 'partner')).toBeUndefined()
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
    expect(withoutTerms(entry({ error_detail: detail }), [long], 'partner')?.error_detail).toBe('[erased]')
    expect(
      without({ path: `${partners}/5`, query: 'fields=name', error_detail: 'A partner.' }),
    ).toBeUndefined()
  })
})
