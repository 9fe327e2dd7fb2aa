import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { Fold } from './fold.ts'
import { KeyLedger } from './key-ledger.ts'

/** A record has an id, a required name, a price (0 unless given) and a write_date. */
const context = {
  mode: 'upsert',
  noun: 'product',
  defaults: ['required', 'required', '0', 'now'],
  writeDateIndex: 3,
  writtenAt: 'now',
  faultOfNew: (row: readonly (string | undefined)[]) =>
    row[1] === undefined ? { field: 'name', reason: 'is required' } : undefined,
  isStored: (etag: string) => etag === 'stored',
  keys: new KeyLedger(resources.product, resources.product),
} as const
const row = (line: number, ...cells: (string | undefined)[]) => ({ line, cells: ['1', ...cells] })
const deletion = (line: number) => ({ line, cells: ['1'], isDelete: true as const })
const fold = (
  stored: string[] | undefined,
  ...lines: ((ReturnType<typeof row> | ReturnType<typeof deletion>) & { ifMatch?: string })[]
) => {
  const all = new Fold(new Map(stored === undefined ? [] : [['1', stored]]), context)
  for (const line of lines) all.apply(line)
  const { deletes, inserts, updates, counts, rejected } = all.result()
  return { isDeleted: deletes.length > 0, inserted: inserts[0], updated: updates[0], counts, rejected }
}

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

describe('a line with a condition', () => {
  const stored = ['1', 'old', '3', 'then']
  const on = (ifMatch: string, line: ReturnType<typeof row> | ReturnType<typeof deletion>) => ({
    ...line,
    ifMatch,
  })
  const changed = { id: '1', field: '$if_match', code: 'changed', value: 'stored' }

  it('is written if the stored record has the ETag', () => {
    expect(fold(stored, on('stored', row(1, 'new')))).toMatchObject({
      updated: ['1', 'new', '3', 'now'],
      rejected: [],
    })
    expect(fold(stored, on('stored', deletion(1)))).toMatchObject({ isDeleted: true, rejected: [] })
  })
  it('is rejected if it has another, or if an earlier line has changed the record', () => {
    expect(fold(stored, on('other', row(1, 'new')))).toMatchObject({
      updated: undefined,
      rejected: [{ line: 1, code: 'changed', value: 'other' }],
    })
    expect(fold(stored, row(1, 'new'), on('stored', row(2, 'newer')))).toMatchObject({
      updated: ['1', 'new', '3', 'now'],
      rejected: [{ ...changed, line: 2 }],
    })
    // Back to the stored values: each change counts, although the net effect is none.
    expect(
      fold(stored, row(1, 'new'), row(2, 'old', undefined, 'then'), on('stored', row(3, 'newer'))),
    ).toMatchObject({ updated: undefined, rejected: [{ ...changed, line: 3 }] })
    expect(fold(stored, deletion(1), row(2, 'again'), on('stored', deletion(3)))).toMatchObject({
      inserted: ['1', 'again', '0', 'now'],
      rejected: [{ ...changed, line: 3 }],
    })
  })
  it('is written after a line that changed nothing', () => {
    expect(fold(stored, row(1, 'old'), on('stored', row(2, 'new')))).toMatchObject({
      updated: ['1', 'new', '3', 'now'],
      rejected: [],
    })
  })
  it('inserts no record', () => {
    expect(fold(undefined, on('stored', row(1, 'new')))).toMatchObject({
      inserted: undefined,
      rejected: [{ line: 1, field: '$if_match', code: 'record_unknown', value: 'stored' }],
    })
  })
  it('changes nothing the second time: its first response may have been lost', () => {
    expect(fold(stored, on('other', row(1, 'old')))).toMatchObject({ updated: undefined, rejected: [] })
    expect(fold(undefined, on('other', deletion(1)))).toMatchObject({ rejected: [] })
    expect(fold(stored, on('stored', deletion(1)), on('stored', deletion(2)))).toMatchObject({
      isDeleted: true,
      counts: { inserted: 0, updated: 0, deleted: 1 },
      rejected: [],
    })
  })
})
