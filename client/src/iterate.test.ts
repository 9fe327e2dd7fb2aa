import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QueryTooSlow } from './errors.ts'
import { iterate, type PagePosition, type RecordPage } from './iterate.ts'

interface Row {
  readonly id: number
}

/** A miniature service: rows ordered by id, a version that every write increments, and pages of the current rows. */
class Rows {
  readonly #limit: number
  readonly #hasEtag: boolean
  rows: Row[]
  version = 1
  readonly requested: PagePosition[] = []

  constructor(ids: readonly number[], limit: number, hasEtag = true) {
    this.rows = ids.map((id) => ({ id }))
    this.#limit = limit
    this.#hasEtag = hasEtag
  }

  page(position: PagePosition): RecordPage<Row> {
    this.requested.push(position)
    const { after = 0, upTo = Number.MAX_SAFE_INTEGER, page } = position
    const matches = this.rows.filter(({ id }) => id > after && id <= upTo)
    const records = matches.slice((page - 1) * this.#limit, page * this.#limit)
    const version = this.#hasEtag ? String(this.version) : undefined
    return { records, isLast: page * this.#limit >= matches.length, version }
  }

  delete(id: number): void {
    this.rows = this.rows.filter((row) => row.id !== id)
    this.version += 1
  }

  append(id: number): void {
    this.rows = [...this.rows, { id }]
    this.version += 1
  }
}

async function idsOf(rows: Rows, before: () => void = () => undefined): Promise<number[]> {
  const ids: number[] = []
  const fetchPage = async (position: PagePosition) => {
    before()
    return rows.page(position)
  }
  for await (const { id } of iterate(fetchPage, (row: Row) => row.id)) ids.push(id)
  return ids
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

describe('iterate', () => {
  it('uses page numbers while the version stays the same', async () => {
    const rows = new Rows(upTo(7), 3)
    expect(await idsOf(rows)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(rows.requested).toEqual([{ page: 1 }, { page: 2 }, { page: 3 }])
  })

  it('ends after one request if nothing matches', async () => {
    const rows = new Rows([], 3)
    expect(await idsOf(rows)).toEqual([])
    expect(rows.requested).toEqual([{ page: 1 }])
  })

  it('continues after the last id if the version changes', async () => {
    const rows = new Rows(upTo(9), 3)
    let requests = 0
    expect(await idsOf(rows, () => ++requests === 2 && rows.delete(1))).toEqual(upTo(9))
    expect(rows.requested.slice(0, 3)).toEqual([{ page: 1 }, { page: 2 }, { after: 3, upTo: 51, page: 1 }])
  })

  it('always continues by key if responses have no version', async () => {
    const rows = new Rows(upTo(9), 3, false)
    expect(await idsOf(rows)).toEqual(upTo(9))
    expect(rows.requested.slice(1).every(({ page }) => page === 1)).toBe(true)
  })

  it('continues by key if a page number exceeds the timeout of the service', async () => {
    const rows = new Rows(upTo(9), 3)
    const slow = new QueryTooSlow({ status: 504, code: 'deadline_exceeded', message: 'too long' })
    const ids: number[] = []
    const fetchPage = async (position: PagePosition) => {
      if (position.page === 2 && position.after === undefined) throw slow
      return rows.page(position)
    }
    for await (const { id } of iterate(fetchPage, (row: Row) => row.id)) ids.push(id)
    expect(ids).toEqual(upTo(9))
  })

  it('throws the error of the first page', async () => {
    const fault = new Error('no')
    const ids = iterate(
      () => Promise.reject(fault),
      (row: Row) => row.id,
    )
    await expect(ids.next()).rejects.toBe(fault)
  })

  it('prefetches one page, and no more', async () => {
    const rows = new Rows(upTo(9), 3)
    const records = iterate(
      async (position) => rows.page(position),
      (row: Row) => row.id,
    )
    await records.next()
    expect(rows.requested).toHaveLength(2)
    await records.return()
    expect(rows.requested).toHaveLength(2)
  })

  it('reaches the largest id in fewer than 16 requests', async () => {
    const rows = new Rows([1, 2, 3, 4, 9_007_199_254_740_990], 2, false)
    expect(await idsOf(rows)).toEqual([1, 2, 3, 4, 9_007_199_254_740_990])
    expect(rows.requested.length).toBeLessThan(16)
  })

  it('yields every record that exists throughout exactly once, under any concurrent writes', async () => {
    const anyIds = fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { maxLength: 120 })
    const anyWrite = fc.option(fc.record({ deleted: fc.nat(), appended: fc.boolean() }), { freq: 2 })
    const writes = fc.infiniteStream(anyWrite)
    await fc.assert(
      fc.asyncProperty(
        anyIds,
        writes,
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (ids, stream, limit, hasEtag) => {
          const rows = new Rows(
            ids.toSorted((a, b) => a - b),
            limit,
            hasEtag,
          )
          const deleted = new Set<number>()
          let next = 10_000
          let requests = 0
          const seen = await idsOf(rows, () => {
            const write = stream.next().value
            // Stop writing after 60 requests: iteration never ends if rows are appended faster than it reads.
            if (!write || ++requests > 60) return
            const victim = rows.rows[write.deleted % Math.max(rows.rows.length, 1)]
            if (victim !== undefined) {
              deleted.add(victim.id)
              rows.delete(victim.id)
            }
            if (write.appended) rows.append(next++)
          })
          expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b))
          expect(ids.filter((id) => !deleted.has(id) && !seen.includes(id))).toEqual([])
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
