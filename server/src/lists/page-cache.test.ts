import { describe, expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import {
  addEnd,
  addSortedEnd,
  type CachedList,
  carryOrderTo,
  carryTo,
  hintsAt,
  hintsToCarry,
  PageCache,
  sortedHintsAt,
  sortedHintsToCarry,
} from './page-cache.ts'

const now = { epoch: '00000001', version: '7', xid: '500' }

function entry(ends: readonly (readonly [rank: number, id: number])[], total = 100_000): CachedList {
  const list: CachedList = { ...now, lineage: '9', total, ends: [] }
  for (const [rank, id] of ends) addEnd(list, rank, String(id))
  return list
}

describe('PageCache', () => {
  it('returns the entry of a list, and whether it is of the current state', () => {
    const pageCache = new PageCache()
    const cached = entry([[10, 11]])
    pageCache.set('a', cached)
    expect(pageCache.get('b', now)).toBeUndefined()
    expect(pageCache.get('a', now)).toEqual({ entry: cached, isCurrent: true })
    for (const other of [{ version: '8' }, { epoch: '00000002' }, { xid: '501' }])
      expect(pageCache.get('a', { ...now, ...other })?.isCurrent).toBe(false)
  })

  it('holds the newest version of a list', () => {
    const pageCache = new PageCache()
    const newer = { ...entry([], 99), version: '10' }
    pageCache.set('a', entry([]))
    pageCache.set('a', newer)
    pageCache.set('a', { ...entry([]), version: '9' })
    expect(pageCache.get('a', newer)?.entry).toBe(newer)
    // After a failover, versions may start lower.
    const restarted = { ...entry([]), epoch: '00000002', version: '3' }
    pageCache.set('a', restarted)
    expect(pageCache.get('a', newer)?.entry).toBe(restarted)
  })
})

describe('page ends', () => {
  it('are found before the requested page, whatever its size', () => {
    const list = entry([
      [30, 31],
      [10, 11],
      [80, 95],
    ])
    const endAt = (skipped: number) => hintsAt(list, skipped).end
    expect(endAt(0)).toBeUndefined()
    expect(endAt(9)).toBeUndefined()
    expect(endAt(10)).toEqual({ rank: 10, id: '11' })
    expect(endAt(29)).toEqual({ rank: 10, id: '11' })
    expect(endAt(30)).toEqual({ rank: 30, id: '31' })
    expect(endAt(9000)).toEqual({ rank: 80, id: '95' })
  })

  it('are dropped one in two above the limit, and a near one is still found', () => {
    const list = entry([])
    for (let page = 1; page <= limits.pageEndsCached + 1; page++) addEnd(list, page * 10, String(page * 100))
    expect(list.ends.length).toBeLessThanOrEqual(limits.pageEndsCached)
    const end = hintsAt(list, 1000).end
    expect(end?.rank).toBeGreaterThanOrEqual(970)
    expect(end?.id).toBe(String((end?.rank ?? 0) * 10))
  })
})

describe('carrying to a later version', () => {
  it('shifts the total, and the rank of each end by what was gained and lost up to it', () => {
    const list = entry([
      [10, 100],
      [20, 200],
      [30, 300],
    ])
    const later = { epoch: '00000001', version: '9', xid: '502', lineage: '9' }
    expect(carryTo(list, later, '250,50,999', '150,100')).toEqual({
      ...later,
      total: 100_001,
      ends: [
        { rank: 10, id: 100 },
        { rank: 19, id: 200 },
        { rank: 30, id: 300 },
      ],
    })
  })

  it('drops ends without a match before them', () => {
    const list = entry(
      [
        [1, 5],
        [2, 6],
        [3, 7],
      ],
      3,
    )
    const later = { ...now, version: '8', lineage: '9' }
    expect(carryTo(list, later, '', '5,7').ends).toEqual([{ rank: 1, id: 6 }])
  })

  it('offers a near start and one that is early enough for any number of changes', () => {
    const list = entry([
      [1000, 1],
      [4000, 2],
      [5000, 3],
    ])
    expect(hintsToCarry(list, 5000, true)).toEqual({
      carry: {
        lineage: '9',
        version: '7',
        start: { rank: 5000, id: '3' },
        safeStart: { rank: 4000, id: '2' },
      },
    })
    expect(hintsToCarry(list, 500, true)?.carry?.start).toEqual({ rank: 0, id: '0' })
  })

  it('is not done without a lineage, for few matches, and near the start of a list without a filter', () => {
    expect(hintsToCarry({ ...entry([]), lineage: null }, 5000, true)).toBeUndefined()
    expect(hintsToCarry(entry([], limits.filterSortRecordsMax), 0, true)).toBeUndefined()
    expect(hintsToCarry(entry([]), limits.pageRecordsMax, false)).toBeUndefined()
    expect(hintsToCarry(entry([]), limits.pageRecordsMax + 1, false)).toBeDefined()
  })
})

describe('the ends of a sorted list', () => {
  const sorted = () => {
    const list = entry([])
    for (const rank of [1000, 3000, 5000]) addSortedEnd(list, rank, String(rank * 2), `${rank}.5`)
    return list
  }

  it('are found before the requested page', () => {
    expect(sortedHintsAt(sorted(), 999)).toEqual({ total: 100_000 })
    expect(sortedHintsAt(sorted(), 4999).sortedEnd).toEqual({ rank: 3000, id: '6000', value: '3000.5' })
  })

  it('are all passed to be carried, with how far the scan may be at most', () => {
    expect(sortedHintsToCarry(sorted(), 3500, true)?.sortedEnds).toEqual({
      ends: [1000, 3000, 5000].map((rank) => ({ rank, id: String(rank * 2), value: `${rank}.5` })),
      nearRank: 3000,
      safeRank: 1000,
    })
    expect(sortedHintsToCarry(entry([]), 3500, true)).toBeUndefined()
    expect(sortedHintsToCarry(sorted(), limits.pageRecordsMax, false)).toBeUndefined()
  })

  it('have the ranks that the statement has computed', () => {
    const later = { epoch: '00000001', version: '9', xid: '502', lineage: '9' }
    const carried = carryOrderTo(sorted(), later, { gained: '7,8', lost: '9', ranks: '1001,3000,3000' })
    expect(carried).toEqual({
      ...later,
      total: 100_001,
      ends: [
        { rank: 1001, id: 2000, value: '1000.5' },
        { rank: 3000, id: 6000, value: '3000.5' },
      ],
    })
  })
})
