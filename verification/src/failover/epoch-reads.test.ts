import { describe, expect, it } from 'vitest'
import { missing, type Row } from '../fresh/read.ts'
import { Random } from '../random.ts'
import {
  baseRecords,
  baseRow,
  expectedText,
  readsOf,
  requestOf,
  shownBy,
  writtenRows,
} from './epoch-reads.ts'

const base = Array.from({ length: baseRecords }, (_, at) => baseRow(at + 1))

function after(branch: number, step: number): Row[] {
  const rows = new Map(base.map((row) => [row.id, row]))
  for (const row of writtenRows(branch, step)) rows.set(row.id, row)
  return [...rows.values()].toSorted((a, b) => a.id - b.id)
}

describe('branches', () => {
  it('write the same number of records up to the same id, with different content', () => {
    for (const step of [1, 2, 3, 4]) {
      const [one, other] = [writtenRows(3, step), writtenRows(4, step)]
      expect(one.length).toBe(other.length)
      expect(one.at(-1)?.id).toBe(other.at(-1)?.id)
      const names = new Set(one.map(({ name }) => name))
      expect(other.some(({ name }) => names.has(name))).toBe(false)
    }
  })

  it('change the response to more than 90 % of the reads, so that a stale one is detected', () => {
    const reads = readsOf(1, new Random(1))
    const differing = reads.filter(
      (read) => expectedText(read, after(0, 1)) !== expectedText(read, after(1, 1)),
    )
    expect(differing.length).toBeGreaterThan(reads.length * 0.9)
  })
})

describe('shownBy', () => {
  const respond = (status: number, text: string, etag = 'W/"a"') => ({ status, text, headers: { etag } })
  const [ndjson, csv] = readsOf(1, new Random(1)).filter((read) => read.kind === 'export')
  const one = { kind: 'one', id: 2, fields: ['id', 'name'] } as const

  it('normalises NDJSON and CSV, and returns the version at the end of NDJSON', () => {
    if (ndjson === undefined || csv === undefined) throw new Error('there are no exports')
    const rows = base.filter(({ id }) => id === 2 || id === 4)
    const lines = '{"id":2,"name":"base 2"}\n{"id":4,"name":"base 4"}'
    expect(shownBy(ndjson, respond(200, `${lines}\n{"$end":{"count":2,"version":"x-7"}}\n`))).toEqual({
      text: expectedText(ndjson, rows),
      identities: ['W/"a"', 'version x-7'],
    })
    expect(shownBy(csv, respond(200, '\uFEFFid,name\r\n2,"base 2"\r\n4,"base 4"\r\n'))).toEqual({
      text: expectedText(csv, rows),
      identities: ['W/"a"'],
    })
    expect([ndjson, csv].map((read) => requestOf(read).headers[1])).toEqual([
      'application/x-ndjson',
      'text/csv',
    ])
  })

  it('returns a record, or that it is missing', () => {
    expect(shownBy(one, respond(200, '{ "data": { "id": 2, "name": "base 2" } }'))?.text).toBe(
      expectedText(one, base),
    )
    expect(shownBy(one, respond(404, '{}'))?.text).toBe(expectedText(one, []))
    expect(expectedText(one, [])).toBe(missing)
  })

  it('returns undefined for any other status', () => {
    for (const status of [304, 400, 401, 500]) expect(shownBy(one, respond(status, '{}'))).toBeUndefined()
  })
})
