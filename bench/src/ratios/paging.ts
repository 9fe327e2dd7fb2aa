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
import { forgetAll } from './forget.ts'
import { provenFixture } from './rates.ts'
import { get } from './same-work.ts'

const limit = 1000
const edgePages = 50

const walks = [
  { label: 'all products', filter: undefined, condition: 'true' },
  { label: 'half of the products', filter: half.filter, condition: half.condition },
] as const
type Walk = (typeof walks)[number]

/** What the walks of a run took, and the bare engine's beside them: both benchmarks are read off the same ones. */
interface Walked {
  readonly walk: Walk
  readonly firstMs: number[]
  readonly lastMs: number[]
  readonly wholeMs: number[]
  readonly bareMs: number[]
}

const walked = new WeakMap<Fixture, Promise<Walked[]>>()

export const walkFlat: Benchmark = {
  name: 'walk_flat',
  bound: '≤ 1.2',
  async run(context) {
    const all = await walkedOnce(context)
    return timesAtMost(
      1.2,
      all.map(({ walk, firstMs, lastMs }) => ({
        label: walk.label,
        unit: 'ms',
        service: bar(`last ${edges(context)} pages`, lastMs),
        other: bar(`first ${edges(context)} pages`, firstMs),
      })),
    )
  },
}

export const walkLimit: Benchmark = {
  name: 'walk_limit',
  bound: '≤ 2',
  async run(context) {
    const all = await walkedOnce(context)
    return timesAtMost(
      2,
      all.map(({ walk, wholeMs, bareMs }) => ({
        label: walk.label,
        unit: 's',
        service: bar('service', wholeMs.map(toSeconds)),
        other: bar('bare COPY', bareMs.map(toSeconds)),
      })),
    )
  },
}

async function walkedOnce(context: Context): Promise<Walked[]> {
  const fixture = await provenFixture(context)
  const found = walked.get(fixture)
  if (found !== undefined) return found
  const made = walkAll(context, fixture)
  walked.set(fixture, made)
  return made
}

async function walkAll(context: Context, fixture: Fixture): Promise<Walked[]> {
  const all = walks.map((walk): Walked => ({ walk, firstMs: [], lastMs: [], wholeMs: [], bareMs: [] }))
  for (let i = 0; i < 3; i++) {
    for (const one of all) {
      await forgetAll(fixture)
      const times = await walkMs(fixture, one.walk)
      one.firstMs.push(sum(times.slice(0, edges(context))))
      one.lastMs.push(sum(times.slice(-edges(context))))
      one.wholeMs.push(sum(times))
      one.bareMs.push(await copyMs(fixture, one.walk))
    }
  }
  return all
}

/** A small account has too few pages for 50 at each end. */
function edges(context: Context): number {
  return context.size(edgePages, edgePages / 5)
}

/** How long each page took, from the first to the last; that no record is lost or twice is seen between them. */
async function walkMs(fixture: Fixture, { filter }: Walk): Promise<number[]> {
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
        if (id <= lastId) throw new Error(`page ${page} of ${path} shows ${id} after ${lastId}`)
        lastId = id
      }
      if (ids.length === 0) throw new Error(`page ${page} is empty after ${seen} of ${total}`)
      seen += ids.length
    }
    if (seen !== total) throw new Error(`${seen} records of ${total} were walked`)
    return times
  } finally {
    client.close()
  }
}

async function copyMs({ url, large }: Fixture, { condition }: Walk): Promise<number> {
  return withClient(url, async (client) => {
    const rows = `select ${columns} from product where account_id = ${large.id} and ${condition} order by id`
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    const started = performance.now()
    await pipeline(client.query(to(`copy (select row_to_json(r) from (${rows}) r) to stdout`)), nowhere)
    return performance.now() - started
  })
}

function toSeconds(ms: number): number {
  return ms / 1000
}
