import { describe, expect, it } from 'vitest'
import { type FeedPosition, idMax } from './cursor.ts'
import { validPosition } from './feed-page.ts'

/** A tally at version 120. Lineage 3 began at 110, lineage 2 at 40, lineage 1 at 0. */
const row = { version: '120', lineages: '{3,2,1}', lineage_starts: '{110,40,0}', changes_from: '30' }

const at = (lineage: bigint, version: bigint, base = version): FeedPosition => ({
  lineage,
  version,
  id: idMax,
  base,
})

describe('a position', () => {
  it.each<[string, FeedPosition]>([
    ['of the current lineage', at(3n, 115n)],
    ['at the current version', at(3n, 120n)],
    ['before the start of the current lineage', at(3n, 50n)],
    ['of an earlier lineage up to its end', at(2n, 110n)],
    ['of the first lineage up to its end', at(1n, 40n)],
    ['at the version from which deletions are known', at(1n, 30n)],
    ['of a client that still reads from the beginning', at(3n, 2n, 100n)],
  ])('%s is valid', (_, position) => {
    expect(validPosition(row, position)).toBe(position)
  })

  it.each<[string, FeedPosition]>([
    ['after the current version: writes were lost', at(3n, 121n)],
    ['after the end of its lineage', at(2n, 111n)],
    ['after the end of the first lineage', at(1n, 41n)],
    ['of an unknown lineage', at(4n, 50n)],
    ['before the version from which deletions are known', at(1n, 29n)],
    ['of a client that reads from the beginning for too long', at(1n, 2n, 29n)],
  ])('%s has expired', (_, position) => {
    expect(() => validPosition(row, position)).toThrowError(
      expect.objectContaining({ code: 'cursor_expired' }),
    )
  })

  it('needs the deletions since the end of its lineage, if the client began to read after that', () => {
    expect(validPosition(row, at(2n, 50n, 118n))).toEqual(at(2n, 50n, 110n))
    // The database has lost writes, and nothing has been written since.
    expect(validPosition(row, at(3n, 50n, 125n))).toEqual(at(3n, 50n, 120n))
  })
})
