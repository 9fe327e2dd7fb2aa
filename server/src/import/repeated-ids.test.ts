import { describe, expect, it } from 'vitest'
import { foldLines } from './repeated-ids.ts'

/** A record has an id, a required name, a price (0 unless given) and a write_date. */
const context = {
  defaults: ['required', 'required', '0', 'now'],
  writeDateIndex: 3,
  writtenAt: 'now',
  faultOfNew: (row: readonly (string | undefined)[]) =>
    row[1] === undefined ? { field: 'name', reason: 'is required' } : undefined,
}
const row = (line: number, ...cells: (string | undefined)[]) => ({ line, cells: ['1', ...cells] })
const deletion = (line: number) => ({ line, cells: ['1'], isDelete: true as const })
const fold = (
  stored: string[] | undefined,
  ...lines: (ReturnType<typeof row> | ReturnType<typeof deletion>)[]
) => foldLines({ id: '1', lines }, stored, context)

describe('the lines of a record that does not exist', () => {
  it('are validated one by one: the first that creates it must have every required field', () => {
    expect(fold(undefined, row(1, undefined, '5'), row(2, 'a'), row(3, undefined, '7'))).toEqual({
      isDeleted: false,
      inserted: ['1', 'a', '7', 'now'],
      updated: undefined,
      counts: { inserted: 1, updated: 1, deleted: 0 },
      rejected: [{ line: 1, id: '1', field: 'name', reason: 'is required' }],
    })
  })
  it('leave nothing if the last one deletes it', () => {
    expect(fold(undefined, row(1, 'a'), deletion(2), deletion(3))).toMatchObject({
      isDeleted: false,
      inserted: undefined,
      updated: undefined,
      counts: { inserted: 1, updated: 0, deleted: 1 },
    })
  })
})

describe('the lines of a record that exists', () => {
  const stored = ['1', 'old', '3', 'then']
  it('change what differs from the line before', () => {
    const folded = fold(
      stored,
      row(1, 'old'),
      row(2, 'new'),
      row(3, undefined, '4', 'given'),
      row(4, 'new', '4'),
    )
    expect(folded).toMatchObject({
      isDeleted: false,
      inserted: undefined,
      updated: ['1', 'new', '4', 'given'],
      counts: { inserted: 0, updated: 2, deleted: 0 },
    })
  })
  it('that change a value and change it back are a write of the record', () => {
    expect(fold(stored, row(1, 'new'), row(2, 'old'))).toMatchObject({
      updated: ['1', 'old', '3', 'now'],
      counts: { updated: 2 },
    })
  })
  it('that delete it and create it again start from the defaults', () => {
    expect(fold(stored, deletion(1), row(2, undefined, '9'), row(3, 'again'))).toEqual({
      isDeleted: true,
      inserted: ['1', 'again', '0', 'now'],
      updated: undefined,
      counts: { inserted: 1, updated: 0, deleted: 1 },
      rejected: [{ line: 2, id: '1', field: 'name', reason: 'is required' }],
    })
  })
  it('delete it once however often they alternate', () => {
    expect(fold(stored, row(1, 'a'), deletion(2), row(3, 'b'), deletion(4))).toMatchObject({
      isDeleted: true,
      inserted: undefined,
      updated: undefined,
      counts: { inserted: 1, updated: 1, deleted: 2 },
    })
  })
})
