import type { Check } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { median, short } from '../numbers.ts'
import { get } from '../ratios/same-work.ts'
import { changesFixture } from './fixture.ts'

const ratioMax = 2
const limit = 1000
const path = '/api/v1/inventory/product'

/** The median time of a page of the change feed from the beginning, and of a page of a list, both of 1000 products, alternately. */
export const feedPage: Check = {
  name: 'feed_page',
  bound: `≤ ${ratioMax}`,
  async run(context) {
    const fixture = await changesFixture(context)
    const client = new Client(1)
    const timed = async (query: string) => {
      const started = performance.now()
      const text = await get(client, fixture, fixture.large, path + query)
      return { ms: performance.now() - started, text }
    }
    try {
      const pages = context.size(600, 60)
      const lists: number[] = []
      const feeds: number[] = []
      let since = ''
      for (let page = 1; page <= pages; page++) {
        const list = await timed(`?limit=${limit}&page=${page}`)
        const feed = await timed(`/changes?limit=${limit}${since}`)
        const { data, cursor }: { data: unknown[]; cursor: string } = JSON.parse(feed.text)
        if (data.length !== limit) throw new Error(`a page of the feed has ${data.length} changes`)
        since = `&since=${cursor}`
        lists.push(list.ms)
        feeds.push(feed.ms)
      }
      const [list, feed] = [median(lists), median(feeds)]
      return {
        value: `${(feed / list).toFixed(2)} (${short(feed)} ÷ ${short(list)} ms)`,
        samples: feeds.length,
        ok: feed / list <= ratioMax,
      }
    } finally {
      client.close()
    }
  },
}
