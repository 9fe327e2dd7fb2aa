import { describe, expect, it } from 'vitest'
import { limits } from '../limits.ts'
import { ListMemory } from './list-memory.ts'

const now = { epoch: '00000001', version: '7', xid: '500' }
const seen = (page: number, id: number) => ({ total: 1000, limit: 10, page, lastId: String(id) })

describe('what is remembered of a list', () => {
  it('is the total, and the nearest end of a page before the one asked for', () => {
    const memory = new ListMemory()
    memory.note('a', now, seen(3, 31))
    memory.note('a', now, seen(1, 11))
    memory.note('a', now, seen(8, 95))
    expect(memory.recall('a', now, 10, 1)).toEqual({ total: 1000 })
    expect(memory.recall('a', now, 10, 2)).toEqual({ total: 1000, end: { page: 1, id: '11' } })
    expect(memory.recall('a', now, 10, 3)).toEqual({ total: 1000, end: { page: 1, id: '11' } })
    expect(memory.recall('a', now, 10, 8)).toEqual({ total: 1000, end: { page: 3, id: '31' } })
    expect(memory.recall('a', now, 10, 900)).toEqual({ total: 1000, end: { page: 8, id: '95' } })
  })

  it('holds for its own limit, list, version and epoch only', () => {
    const memory = new ListMemory()
    memory.note('a', now, seen(1, 11))
    expect(memory.recall('a', now, 20, 5)).toEqual({ total: 1000 })
    expect(memory.recall('b', now, 10, 5)).toEqual({})
    expect(memory.recall('a', { ...now, version: '8' }, 10, 5)).toEqual({})
    expect(memory.recall('a', { ...now, epoch: '00000002' }, 10, 5)).toEqual({})
  })

  it('is forgotten with the version, whichever comes later', () => {
    const memory = new ListMemory()
    memory.note('a', now, seen(1, 11))
    memory.note('a', { ...now, version: '8' }, { ...seen(2, 22), total: 999 })
    expect(memory.recall('a', { ...now, version: '8' }, 10, 9)).toEqual({
      total: 999,
      end: { page: 2, id: '22' },
    })
    expect(memory.recall('a', now, 10, 9)).toEqual({})
  })

  it('thins out, so that a jump has a little further to go', () => {
    const memory = new ListMemory()
    for (let page = 1; page <= limits.pageEndsRemembered + 1; page++)
      memory.note('a', now, seen(page, page * 10))
    const { end } = memory.recall('a', now, 10, 100)
    expect(end?.page).toBeGreaterThanOrEqual(97)
    expect(end?.id).toBe(String((end?.page ?? 0) * 10))
  })
})
