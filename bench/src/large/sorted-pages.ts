import { resources } from '../../../server/src/catalog/resources.ts'
import { Client } from '../../../verification/src/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { median } from '../numbers.ts'
import { bar } from '../side-by-side.ts'
import { answerOf, largeFixture } from './fixture.ts'

const ratioMax = 1.5
const limit = 10
const fields = resources.product.fields.map(({ name }) => name)

/** Pages 1 and 100 in the order of each field, with and without a filter, against the same pages in the order of ids. */
export const sortedPages: Benchmark = {
  name: 'sorted_pages',
  bound: `≤ ${ratioMax} × by id`,
  async run(context) {
    const { fixture } = await largeFixture(context)
    const client = new Client(1)
    const repeats = context.size(9, 5)
    let n = 0
    // Another order of the fields makes each request a new one.
    const times = async (query: string) => {
      const all: number[] = []
      for (let i = 0; i <= repeats; i++) {
        const order = fields.toSorted((a, b) => ((a.charCodeAt(0) * ++n) % 7) - ((b.charCodeAt(1) * n) % 11))
        const { status, ms } = await answerOf(
          fixture,
          client,
          `fields=${order.join(',')}&limit=${limit}&${query}`,
        )
        if (status !== 200) throw new Error(`${query}: ${status}`)
        if (i > 0) all.push(ms)
      }
      return all
    }
    const rows: string[] = []
    const ratios: {
      readonly label: string
      readonly ratio: number
      readonly sorted: number[]
      readonly byId: number[]
    }[] = []
    for (const filter of ['', 'list_price<500', 'active=false']) {
      const condition = filter === '' ? '' : `&filter=${encodeURIComponent(filter)}`
      // Counts the total, which is the same in every order.
      await answerOf(fixture, client, `limit=1${condition}`)
      for (const page of [1, 100]) {
        const byId = await times(`page=${page}${condition}`)
        for (const field of fields) {
          for (const sort of [field, `-${field}`]) {
            const sorted = await times(`page=${page}&sort=${sort}${condition}`)
            const label = `sort=${sort} page=${page} ${filter}`
            ratios.push({ label, ratio: median(sorted) / median(byId), sorted, byId })
          }
        }
      }
    }
    client.close()
    const ordered = ratios.toSorted((a, b) => b.ratio - a.ratio)
    for (const { label, ratio, sorted, byId } of ordered.slice(0, 12))
      rows.push(
        `${label}: ${ratio.toFixed(2)} (${median(sorted).toFixed(1)} ÷ ${median(byId).toFixed(1)} ms)`,
      )
    const [worst] = ordered
    if (worst === undefined) throw new Error('nothing was measured')
    const within = ratios.filter(({ ratio }) => ratio <= ratioMax).length
    return {
      value: `${within} of ${ratios.length} within; worst ${worst.ratio.toFixed(2)}, ${worst.label.trim()}`,
      samples: ratios.length,
      ok: within === ratios.length,
      note: rows.join('\n'),
      series: [
        {
          label: 'sorted pages',
          unit: 'ms',
          service: bar('sorted', worst.sorted),
          other: bar('by id', worst.byId),
          limit: ratioMax * median(worst.byId),
        },
      ],
    }
  },
}
