import { describe, expect, it } from 'vitest'
import type { ListRow } from '../query/sql/list-statement.ts'
import { addSortedEnd, type Cached, type CachedList } from './page-cache.ts'
import { entryAt, isAnswered, listAt, pageSources } from './page-source.ts'

const unknown = { isLargeAccount: true }
const row: ListRow = {
  epoch: '00000001',
  version: '9',
  xid: '502',
  lineage: '9',
  total: null,
  count: '0',
  records: '',
  last_id: null,
}

function list(version: string, isCurrent = false): Cached {
  return {
    entry: {
      epoch: '00000001',
      version,
      xid: `50${version}`,
      lineage: '9',
      total: 50_000,
      ends: [{ rank: 10, id: 3 }],
    },
    isCurrent,
  }
}

function order(version: string, isCurrent = false): Cached & { readonly entry: CachedList } {
  const cached = list(version, isCurrent)
  const entry: CachedList = { ...cached.entry, ends: [] }
  addSortedEnd(entry, 4000, '7', '1.5')
  return { entry, isCurrent }
}

const kinds = (...[cached, sorted, hasFilter]: [Cached?, (Cached | null)?, boolean?]) =>
  pageSources(cached, sorted, 5000, hasFilter ?? true, unknown).map(
    ({ hints, isSorted = false, isCurrent = false }) =>
      `${isSorted ? 'order' : 'list'} ${isCurrent ? 'current' : hints.carry === undefined ? 'unknown' : 'carried'}`,
  )

describe('pageSources', () => {
  it('are the order before the list, and what is current before what must be carried', () => {
    expect(kinds(undefined, null)).toEqual(['list unknown'])
    expect(kinds(list('7', true), null)).toEqual(['list current', 'list carried', 'list unknown'])
    expect(kinds(list('7'), order('7'))).toEqual(['order carried', 'list carried', 'list unknown'])
    expect(kinds(list('7', true), order('6'))).toEqual([
      'order carried',
      'list current',
      'list carried',
      'list unknown',
    ])
    expect(kinds(undefined, order('7', true))).toEqual(['order current', 'order carried', 'list unknown'])
  })

  it('do not carry the ends by id of a list without a filter for a sorted one', () => {
    expect(kinds(list('7'), undefined, false)).toEqual(['list unknown'])
    expect(kinds(list('7'), null, false)).toEqual(['list carried', 'list unknown'])
  })
})

describe('isAnswered', () => {
  const sources = pageSources(list('9', true), order('9', true), 5000, true, unknown)
  const [current, carried, , last] = sources
  if (current === undefined || carried === undefined || last === undefined) throw new Error('no source')

  it('is false for what is current if the row is of another state', () => {
    expect(isAnswered(current, row, { epoch: '00000001', version: '9', xid: '502' })).toBe(true)
    expect(isAnswered(current, row, { epoch: '00000001', version: '9', xid: '501' })).toBe(false)
  })

  it('is false if the order could not be carried', () => {
    expect(isAnswered(carried, { ...row, ranks: null }, row)).toBe(false)
    expect(isAnswered(carried, { ...row, ranks: '4000' }, row)).toBe(true)
    expect(isAnswered(last, row, row)).toBe(true)
  })
})

describe('the entry of a list', () => {
  const [carried] = pageSources(undefined, order('7'), 5000, true, unknown)
  if (carried === undefined) throw new Error('no source')
  const changed = { ...row, gained: '4,5', lost: '1', ranks: '4001' }
  const later = entryAt(carried, changed)
  if (later === undefined) throw new Error('no entry')

  it('is carried with its order', () => {
    expect(later).toMatchObject({ version: '9', total: 50_001, ends: [{ rank: 4001, value: '1.5' }] })
  })

  it('is carried too if it was of the same version, replaced if it was older, and left if it is newer', () => {
    const { entry: before } = order('7')
    expect(listAt(list('7'), before, later, changed)).toMatchObject({
      version: '9',
      total: 50_001,
      ends: [{ rank: 9, id: 3 }],
    })
    expect(listAt(list('6'), before, later, changed)).toEqual({ ...later, ends: [] })
    expect(listAt(undefined, before, later, changed)).toEqual({ ...later, ends: [] })
    expect(listAt(list('8'), before, later, changed)).toBeUndefined()
  })
})
