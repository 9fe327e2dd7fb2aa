import { expect, it } from 'vitest'
import type { FeedPosition } from '../changes/cursor.ts'
import { rangeOf } from './feed-range.ts'

const position = (version: bigint, id: bigint): FeedPosition => ({ lineage: 1n, version, id, base: 0n })
const change = (version: number, id: number, name = 'x') =>
  `{"change":"updated","id":${id},"version":${version},"record":{"name":"${name}"}}`
const deleted = (version: number, id: number) => `{"change":"deleted","id":${id},"version":${version}}`
const page = (changes: readonly string[], end: FeedPosition, more = false) => ({
  changes: changes.join('\n'),
  end,
  more,
})

it('a page that fits is one range', () => {
  const changes = [change(1, 1), deleted(2, 7)]
  expect(rangeOf(page(changes, position(2n, 9n)), undefined, 10_000)).toEqual({
    changes,
    end: position(2n, 9n),
    more: false,
  })
  expect(rangeOf(page([], position(5n, 9n), true), undefined, 10_000)).toEqual({
    changes: [],
    end: position(5n, 9n),
    more: true,
  })
})

it('a range ends before the change that would exceed the size', () => {
  const changes = [change(1, 1), change(1, 2), change(2, 1)]
  const bytes = Buffer.byteLength(changes[0] ?? '') + 1
  expect(rangeOf(page(changes, position(9n, 9n)), undefined, 2 * bytes)).toEqual({
    changes: changes.slice(0, 2),
    end: position(1n, 2n),
    more: true,
  })
})

it('counts bytes, not characters, and sends a larger record alone', () => {
  const changes = [change(1, 1, 'é'.repeat(1000)), change(1, 2)]
  expect(rangeOf(page(changes, position(9n, 9n)), undefined, 1500)).toEqual({
    changes: changes.slice(0, 1),
    end: position(1n, 1n),
    more: true,
  })
})

it('a retry has only changes up to the end of the first attempt, and the same end', () => {
  const changes = [change(3, 2), change(3, 4), change(4, 1)]
  const end = position(3n, 4n)
  expect(rangeOf(page(changes, position(4n, 1n), true), end, 10_000)).toEqual({
    changes: changes.slice(0, 2),
    end,
    more: true,
  })
  // All records of the range have changed since.
  expect(rangeOf(page([change(5, 1)], position(5n, 1n)), end, 10_000)).toEqual({
    changes: [],
    end,
    more: true,
  })
})

it('a record that was deleted and created again is sent once', () => {
  const changes = [deleted(1, 7), change(2, 3), change(3, 7)]
  expect(rangeOf(page(changes, position(3n, 9n)), undefined, 10_000).changes).toEqual([
    change(2, 3),
    change(3, 7),
  ])
})
