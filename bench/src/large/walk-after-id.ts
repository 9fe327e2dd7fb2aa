import { Client } from '../../../verification/src/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { bar, timesAtMost } from '../side-by-side.ts'
import { answerOf, largeFixture } from './fixture.ts'

const limit = 1000

/** A part of all pages by `after_id`, at the beginning, in the middle and at the end, against the same pages by number. */
export const walkAfterId: Benchmark = {
  name: 'walk_after_id',
  bound: '≤ 1.2 × by page',
  async run(context) {
    const { fixture } = await largeFixture(context)
    const client = new Client(1)
    const pages = context.size(200, 50)
    const series = []
    for (const [label, filter] of [
      ['all records', ''],
      ['active=true', '&filter=active=true'],
      ['list_price<500', '&filter=list_price<500'],
    ] as const) {
      const first = await answerOf(fixture, client, `limit=${limit}${filter}`)
      const all = Math.floor((first.total ?? 0) / limit)
      const [byPage, afterId]: [number[], number[]] = [[], []]
      for (const start of [1, Math.floor(all / 2), all - pages - 1]) {
        // The pages up to the start have been read: both ways begin after a page end.
        let last = (await answerOf(fixture, client, `limit=${limit}&page=${start}${filter}`)).lastId
        for (let page = start + 1; page <= start + pages; page++) {
          const one = await answerOf(fixture, client, `limit=${limit}&page=${page}${filter}`)
          const other = await answerOf(fixture, client, `limit=${limit}&after_id=${last}${filter}`)
          if (one.lastId !== other.lastId || one.lastId === undefined)
            throw new Error(`${label}, page ${page}: ${one.lastId} and ${other.lastId}`)
          if (other.total !== (one.total ?? 0) - (page - 1) * limit)
            throw new Error(`${label}, after ${last}: total ${other.total} of ${one.total}`)
          last = other.lastId
          byPage.push(one.ms)
          afterId.push(other.ms)
        }
      }
      series.push({
        label,
        unit: 'ms' as const,
        service: bar('after_id', afterId),
        other: bar('page', byPage),
      })
    }
    client.close()
    return timesAtMost(1.2, series)
  },
}
