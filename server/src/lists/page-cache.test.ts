import { describe, expect, it } from 'vitest'
import { limits } from '../limits.ts'
import { PageCache } from './page-cache.ts'

const now = { epoch: '00000001', version: '7', xid: '500' }
const seen = (page: number, id: number) => ({ total: 1000, limit: 10, page, lastId: String(id) })

describe('PageCache', () => {
  it('returns the total and the nearest cached page end before the requested page', () => {
    const pageCache = new PageCache()
    pageCache.set('a', now, seen(3, 31))
    pageCache.set('a', now, seen(1, 11))
    pageCache.set('a', now, seen(8, 95))
    expect(pageCache.get('a', now, 10, 1)).toEqual({ total: 1000 })
    expect(pageCache.get('a', now, 10, 2)).toEqual({ total: 1000, end: { page: 1, id: '11' } })
    expect(pageCache.get('a', now, 10, 3)).toEqual({ total: 1000, end: { page: 1, id: '11' } })
    expect(pageCache.get('a', now, 10, 8)).toEqual({ total: 1000, end: { page: 3, id: '31' } })
    expect(pageCache.get('a', now, 10, 900)).toEqual({ total: 1000, end: { page: 8, id: '95' } })
  })

  it('returns page ends only for the same limit, list, version and epoch', () => {
    const pageCache = new PageCache()
    pageCache.set('a', now, seen(1, 11))
    expect(pageCache.get('a', now, 20, 5)).toEqual({ total: 1000 })
    expect(pageCache.get('b', now, 10, 5)).toEqual({})
    expect(pageCache.get('a', { ...now, version: '8' }, 10, 5)).toEqual({})
    expect(pageCache.get('a', { ...now, epoch: '00000002' }, 10, 5)).toEqual({})
  })

  it('replaces the entry of a list when its version changes', () => {
    const pageCache = new PageCache()
    pageCache.set('a', now, seen(1, 11))
    pageCache.set('a', { ...now, version: '8' }, { ...seen(2, 22), total: 999 })
    expect(pageCache.get('a', { ...now, version: '8' }, 10, 9)).toEqual({
      total: 999,
      end: { page: 2, id: '22' },
    })
    expect(pageCache.get('a', now, 10, 9)).toEqual({})
  })

  it('drops every second page end above the limit, and still returns a near one', () => {
    const pageCache = new PageCache()
    for (let page = 1; page <= limits.pageEndsCached + 1; page++)
      pageCache.set('a', now, seen(page, page * 10))
    const { end } = pageCache.get('a', now, 10, 100)
    expect(end?.page).toBeGreaterThanOrEqual(97)
    expect(end?.id).toBe(String((end?.page ?? 0) * 10))
  })
})
