import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QueryTooSlow } from './errors.ts'
import { type Place, type WalkPage, walk } from './walk.ts'

interface Row {
  readonly id: number
}

/** A service in small: rows by id, a version that every write makes new, pages cut from what is there now. */
class Rows {
  readonly #limit: number
  readonly #tagged: boolean
  rows: Row[]
  version = 1
  readonly asked: Place[] = []

  constructor(ids: readonly number[], limit: number, tagged = true) {
    this.rows = ids.map((id) => ({ id }))
    this.#limit = limit
    this.#tagged = tagged
  }

  page(place: Place): WalkPage<Row> {
    this.asked.push(place)
    const { after = 0, upTo = Number.MAX_SAFE_INTEGER, page } = place
    const matches = this.rows.filter(({ id }) => id > after && id <= upTo)
    const records = matches.slice((page - 1) * this.#limit, page * this.#limit)
    const version = this.#tagged ? String(this.version) : undefined
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
  const ask = async (place: Place) => {
    before()
    return rows.page(place)
  }
  for await (const { id } of walk(ask, (row: Row) => row.id)) ids.push(id)
  return ids
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

describe('a walk', () => {
  it('goes by page numbers while nobody writes', async () => {
    const rows = new Rows(upTo(7), 3)
    expect(await idsOf(rows)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(rows.asked).toEqual([{ page: 1 }, { page: 2 }, { page: 3 }])
  })

  it('is over at once where there is nothing', async () => {
    const rows = new Rows([], 3)
    expect(await idsOf(rows)).toEqual([])
    expect(rows.asked).toEqual([{ page: 1 }])
  })

  it('goes on after the last id when somebody wrote in between', async () => {
    const rows = new Rows(upTo(9), 3)
    let asked = 0
    expect(await idsOf(rows, () => ++asked === 2 && rows.delete(1))).toEqual(upTo(9))
    expect(rows.asked.slice(0, 3)).toEqual([{ page: 1 }, { page: 2 }, { after: 3, upTo: 51, page: 1 }])
  })

  it('goes by key throughout where no version is told', async () => {
    const rows = new Rows(upTo(9), 3, false)
    expect(await idsOf(rows)).toEqual(upTo(9))
    expect(rows.asked.slice(1).every(({ page }) => page === 1)).toBe(true)
  })

  it('goes by key where a page number takes the service too long', async () => {
    const rows = new Rows(upTo(9), 3)
    const slow = new QueryTooSlow({ status: 504, code: 'deadline_exceeded', message: 'too long' })
    const ids: number[] = []
    const ask = async (place: Place) => {
      if (place.page === 2 && place.after === undefined) throw slow
      return rows.page(place)
    }
    for await (const { id } of walk(ask, (row: Row) => row.id)) ids.push(id)
    expect(ids).toEqual(upTo(9))
  })

  it('fails where its first page does', async () => {
    const fault = new Error('no')
    const ids = walk(
      () => Promise.reject(fault),
      (row: Row) => row.id,
    )
    await expect(ids.next()).rejects.toBe(fault)
  })

  it('fetches one page ahead, and no further', async () => {
    const rows = new Rows(upTo(9), 3)
    const records = walk(
      async (place) => rows.page(place),
      (row: Row) => row.id,
    )
    await records.next()
    expect(rows.asked).toHaveLength(2)
    await records.return()
    expect(rows.asked).toHaveLength(2)
  })

  it('reaches far ids in few requests', async () => {
    const rows = new Rows([1, 2, 3, 4, 9_007_199_254_740_990], 2, false)
    expect(await idsOf(rows)).toEqual([1, 2, 3, 4, 9_007_199_254_740_990])
    expect(rows.asked.length).toBeLessThan(16)
  })

  it('gives each record that is there throughout once, whatever is written meanwhile', async () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { maxLength: 120 })
    const write = fc.option(fc.record({ deleted: fc.nat(), appended: fc.boolean() }), { freq: 2 })
    const writes = fc.infiniteStream(write)
    await fc.assert(
      fc.asyncProperty(
        ids,
        writes,
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (some, stream, limit, tagged) => {
          const rows = new Rows(
            some.toSorted((a, b) => a - b),
            limit,
            tagged,
          )
          const gone = new Set<number>()
          let next = 10_000
          let requests = 0
          const seen = await idsOf(rows, () => {
            const one = stream.next().value
            // Written to at every request for ever, with more than is read, it would never end.
            if (!one || ++requests > 60) return
            const victim = rows.rows[one.deleted % Math.max(rows.rows.length, 1)]
            if (victim !== undefined) {
              gone.add(victim.id)
              rows.delete(victim.id)
            }
            if (one.appended) rows.append(next++)
          })
          expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b))
          expect(some.filter((id) => !gone.has(id) && !seen.includes(id))).toEqual([])
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
