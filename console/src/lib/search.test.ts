import { describe, expect, it } from 'vitest'
import { parseSearch, stringifySearch } from './search.ts'

describe('the parameters of a URL', () => {
  it('keep every value as text', () => {
    expect(parseSearch('?page=007&filter=a%3D1%26b%3D%222%22')).toEqual({ page: '007', filter: 'a=1&b="2"' })
  })

  it('are the same after stringifying and parsing', () => {
    const search = { filter: 'name="R&D + ü"|id[1,2]&x>=1#%', fields: 'id,name', page: '2' }
    expect(parseSearch(stringifySearch(search))).toEqual(search)
  })

  it('omit what is absent, and stay readable', () => {
    expect(stringifySearch({ filter: 'id[1,2]', fields: undefined, page: '' })).toBe('?filter=id[1,2]')
    expect(stringifySearch({})).toBe('')
  })
})
