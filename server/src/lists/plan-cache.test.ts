import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { PlanCache } from './plan-cache.ts'

const plans = new PlanCache()
const list = (raw: string) => plans.list(resources.product, raw, 'url')

function codesOf(raw: string): string[] {
  try {
    list(raw)
  } catch (error) {
    if (error instanceof Failure) return error.faults.map(({ code }) => code)
  }
  return []
}

describe('PlanCache', () => {
  it('caches the plan of a list on its second request, for all its pages', () => {
    const numbers = [1, 2, 3, 4]
    const lists = numbers.map((page) => list(`page=${page}&filter=active=true`))
    expect(lists.map(({ page }) => page)).toEqual(numbers)
    expect(lists.map(({ plan }) => plan === lists[1]?.plan)).toEqual([false, true, true, true])
    expect(lists[3]?.pageQuery).toEqual(['filter=active%3Dtrue&page=', '&limit=10'])
    expect(new Set(lists.map(({ requestHash }) => requestHash)).size).toBe(numbers.length)
  })

  it('has the same requestHash for all notations of a page, and another for every other page or list', () => {
    const hashes = (...raw: string[]) => new Set(raw.map((text) => list(text).requestHash)).size
    expect(hashes('', 'page=1', 'limit=10', 'page=0001', 'limit=10&page=1')).toBe(1)
    expect(hashes('limit=20&page=7', 'page=7&limit=20', 'page=07&limit=20', 'page=7&limit=20&fields=')).toBe(
      1,
    )
    expect(hashes('page=11', 'page=1&limit=1', 'page=1&limit=11', 'page=1', 'page=1&filter=id=1')).toBe(5)
  })

  it('builds the links to other pages in canonical form, however the request is written', () => {
    const notations = [
      'filter=name="a"%26( active=true )',
      'filter=  name=a%26active=true',
      'filter=name=a&active=true',
    ]
    expect(new Set(notations.map((raw) => list(raw).requestHash)).size).toBe(1)
    expect(new Set(notations.map((raw) => list(raw).pageQuery.join()))).toEqual(
      new Set(['filter=name%3Da%26active%3Dtrue&page=,&limit=10']),
    )
    expect(list('fields=id,id,name,id').pageQuery).toEqual(['fields=id,name&page=', '&limit=10'])
    const all = resources.product.fields.map(({ name }) => name)
    expect(list(`fields=${all.join()}`).requestHash).toBe(list('').requestHash)
    expect(list(`fields=${all.join()}`).pageQuery).toEqual(['page=', '&limit=10'])
  })

  it('has another requestHash for every window of ids, and includes the window in the links', () => {
    const windows = [
      '',
      'after_id=5',
      'max_id=5',
      'after_id=5&max_id=5',
      'filter=id>5',
      'after_id=5&filter=id>5',
    ]
    expect(new Set(windows.map((raw) => list(raw).requestHash)).size).toBe(windows.length)
    expect(new Set(windows.map((raw) => list(raw).filterKey)).size).toBe(windows.length)
    expect(list('max_id=9&filter=id>1&after_id=05').pageQuery).toEqual([
      'filter=id%3E1&after_id=5&max_id=9&page=',
      '&limit=10',
    ])
  })

  it.each([
    ['page=0', 'page_invalid'],
    ['page=', 'page_invalid'],
    ['page=2x', 'page_invalid'],
    ['page=9000000000001', 'page_invalid'],
    ['page=2&page=3', 'parameter_repeated'],
    ['page=2&page=2', 'parameter_repeated'],
    ['filter=active=true&page=2&name=x', 'parameter_unknown'],
    ['filter=name=page=2&page=x', 'page_invalid'],
  ])('%s is rejected', (raw, code) => {
    expect(codesOf('page=2')).toEqual([])
    expect(codesOf(raw)).toEqual([code])
  })

  it('ignores `page=` within a filter', () => {
    expect(list('filter=name=page=2')).toMatchObject({
      page: 1,
      filterKey: list('filter=name%3Dpage%3D2').filterKey,
    })
    expect(list('filter=name="%26page=2"&page=5').page).toBe(5)
    expect(list('filter=name="%26page=2"&page=5').filterKey).toBe('name="&page=2"')
  })
})
