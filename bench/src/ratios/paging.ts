import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { to } from 'pg-copy-streams'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { sum } from '../numbers.ts'
import { bar, timesAtMost } from '../side-by-side.ts'
import { columns } from './bare.ts'
import { type Fixture, half } from './fixture.ts'
import { invalidateCaches } from './invalidate-caches.ts'
import { memoized } from './rates.ts'
import { get } from './same-work.ts'

const limit = 1000
const edgePages = 50

const lists = [
  { label: 'all products', filter: undefined, condition: 'true' },
  { label: 'half of the products', filter: half.filter, condition: half.condition },
] as const
type List = (typeof lists)[number]

/** The times of reading all pages of a list, and of COPY. Both benchmarks use the same measurements. */
interface PagingTimes {
  readonly list: List
  readonly firstMs: number[]
  readonly lastMs: number[]
  readonly totalMs: number[]
  readonly copyMs: number[]
}

const measureOnce = memoized(measure)

export const pagingFlat: Benchmark = {
  name: 'paging_flat',
  bound: '≤ 1.2',
  async run(context) {
    const all = await measureOnce(context)
    return timesAtMost(
      1.2,
      all.map(({ list, firstMs, lastMs }) => ({
        label: list.label,
        unit: 'ms',
        service: bar(`last ${edges(context)} pages`, lastMs),
        other: bar(`first ${edges(context)} pages`, firstMs),
      })),
    )
  },
}

export const pagingRate: Benchmark = {
  name: 'paging_rate',
  bound: '≤ 2',
  async run(context) {
    const all = await measureOnce(context)
    return timesAtMost(
      2,
      all.map(({ list, totalMs, copyMs }) => ({
        label: list.label,
        unit: 's',
        service: bar('service', totalMs.map(toSeconds)),
        other: bar('plain COPY', copyMs.map(toSeconds)),
      })),
    )
  },
}

async function measure(context: Context, fixture: Fixture): Promise<PagingTimes[]> {
  const all = lists.map((list): PagingTimes => ({ list, firstMs: [], lastMs: [], totalMs: [], copyMs: [] }))
  for (let i = 0; i < 3; i++) {
    for (const one of all) {
      await invalidateCaches(fixture)
      const times = await pageTimesMs(fixture, one.list)
      one.firstMs.push(sum(times.slice(0, edges(context))))
      one.lastMs.push(sum(times.slice(-edges(context))))
      one.totalMs.push(sum(times))
      one.copyMs.push(await timeOfCopyMs(fixture, one.list))
    }
  }
  return all
}

/** A quick run has a tenth of the pages. */
function edges(context: Context): number {
  return context.size(edgePages, edgePages / 5)
}

/** The time of each page, from the first to the last. Throws if a record is missing or repeated. */
async function pageTimesMs(fixture: Fixture, { filter }: List): Promise<number[]> {
  const client = new Client(1)
  const query = filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`
  const times: number[] = []
  let [seen, total, lastId] = [0, 1, 0]
  try {
    for (let page = 1; seen < total; page++) {
      const started = performance.now()
      const path = `/api/v1/inventory/product?limit=${limit}&page=${page}${query}`
      const text = await get(client, fixture, fixture.large, path)
      times.push(performance.now() - started)
      total = Number(/"total":(\d+)\}/.exec(text.slice(-300))?.[1])
      const ids = [...text.matchAll(/\{"id":(\d+),/g)].map((match) => Number(match[1]))
      for (const id of ids) {
        if (id <= lastId) throw new Error(`page ${page} of ${path} has ${id} after ${lastId}`)
        lastId = id
      }
      if (ids.length === 0) throw new Error(`page ${page} is empty after ${seen} of ${total}`)
      seen += ids.length
    }
    if (seen !== total) throw new Error(`${seen} records of ${total} were read`)
    return times
  } finally {
    client.close()
  }
}

async function timeOfCopyMs({ url, large }: Fixture, { condition }: List): Promise<number> {
  return withClient(url, async (client) => {
    const rows = `select ${columns} from product where account_id = ${large.id} and ${condition} order by id`
    const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
    const started = performance.now()
    await pipeline(client.query(to(`copy (select row_to_json(r) from (${rows}) r) to stdout`)), discard)
    return performance.now() - started
  })
}

function toSeconds(ms: number): number {
  return ms / 1000
}
