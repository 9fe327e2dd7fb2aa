import { expect, it, vi } from 'vitest'
import { addPosition, forgetPositions, positionFor, readPositions, withPosition } from './positions.ts'

const position = (at: string) => ({ at, cursor: `cursor of ${at}` })
const [first, second, third] = [
  position('2026-11-01T08:00:00.000Z'),
  position('2026-11-01T09:00:00.000Z'),
  position('2026-11-02T08:00:00.000Z'),
]

it('keeps one position per hour, for 30 days', () => {
  expect(withPosition([first], position('2026-11-01T08:59:00.000Z'))).toEqual([first])
  expect(withPosition([first], second)).toEqual([first, second])
  expect(withPosition([first, second], position('2026-12-01T08:30:00.000Z'))).toEqual([
    second,
    position('2026-12-01T08:30:00.000Z'),
  ])
})

it('reads from the last position before a time, or from the first one', () => {
  expect(positionFor([first, second, third], '2026-11-01T12:00:00Z')).toBe(second)
  expect(positionFor([first, second, third], '2026-10-01T12:00:00Z')).toBe(first)
  expect(positionFor([], '2026-11-01T12:00:00Z')).toBe(undefined)
})

it('stores the positions of each resource, and forgets them', () => {
  const items = new Map<string, string>([['quartermaster.positions', 'not JSON']])
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => items.set(name, text),
  })
  expect(readPositions('product')).toEqual([])
  addPosition('product', first)
  addPosition('partner', second)
  expect([readPositions('product'), readPositions('partner')]).toEqual([[first], [second]])
  forgetPositions('product')
  expect([readPositions('product'), readPositions('partner')]).toEqual([[], [second]])
})
