import { setTimeout as sleep } from 'node:timers/promises'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { Client } from '../../../verification/src/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { median, short } from '../numbers.ts'
import { configure, type Fixture } from '../ratios/fixture.ts'
import { bar } from '../side-by-side.ts'
import { answerOf, largeFixture } from './fixture.ts'

const ratioMax = 1.3
/** Every 20th record: 5 %. */
const every = 20
const vacuumMsMax = 1_800_000

/** Counts that read an index alone while its pages are known to be visible. With another value each of them is a first count. */
const filters: readonly ((n: number) => string)[] = [
  (n) => `qty_available>${2_400 + n}`,
  (n) => `list_price<${500 + n}`,
  (n) => `create_date>2020-01-05&create_date<20${40 + n}-01-01`,
  (n) => `categ_id>${60 + n}`,
  (n) => `name*bolt&list_price>${n / 100}`,
]

/**
 * First counts before the quantities of 5 % of the records change, and after autovacuum has processed the table. In production it looks
 * at the table every minute (`autovacuum_naptime`), here every second.
 */
export const countsAfterUpdates: Benchmark = {
  name: 'counts_after_updates',
  bound: `≤ ${ratioMax} × before`,
  async run(context) {
    const { fixture } = await largeFixture(context)
    const client = new Client(1)
    const repeats = 5
    let n = 0
    const measure = async () => {
      const times: number[][] = filters.map(() => [])
      for (let round = 0; round < repeats; round++) {
        n += 1
        for (const [at, filter] of filters.entries()) {
          const query = `limit=1&filter=${encodeURIComponent(filter(n))}`
          const { status, ms } = await answerOf(fixture, client, query)
          if (status !== 200) throw new Error(`${filter(n)}: ${status}`)
          times[at]?.push(ms)
        }
      }
      return times
    }
    const records = context.size(10_000_000, 1_000_000)
    await measure()
    const before = await measure()
    await update(fixture, records)
    const unvacuumed = await measure()
    const seconds = await vacuumed(fixture)
    const after = await measure()
    client.close()
    const rows = filters.map((filter, at) => {
      const [first, between, last] = [before, unvacuumed, after].map((times) => median(times[at] ?? []))
      const ratio = (last ?? Number.NaN) / (first ?? Number.NaN)
      return { text: filter(n), ratio, first, between, last, at }
    })
    const [worst] = rows.toSorted((a, b) => b.ratio - a.ratio)
    if (worst === undefined) throw new Error('nothing was measured')
    return {
      value: `${worst.ratio.toFixed(2)}, ${worst.text}`,
      samples: filters.length * repeats,
      ok: worst.ratio <= ratioMax,
      note: [
        `${records / every} records changed; autovacuum took ${seconds.toFixed(0)} s`,
        ...rows.map(
          ({ text, ratio, first, between, last }) =>
            `${text}: ${ratio.toFixed(2)} (${short(first ?? 0)} ms before, ${short(between ?? 0)} ms before autovacuum, ${short(last ?? 0)} ms after)`,
        ),
      ].join('\n'),
      series: [
        {
          label: 'counts after updates',
          unit: 'ms',
          service: bar('after', after[worst.at] ?? []),
          other: bar('before', before[worst.at] ?? []),
          limit: ratioMax * (worst.first ?? Number.NaN),
        },
      ],
    }
  },
}

async function update({ url, large }: Fixture, records: number): Promise<void> {
  const account = large.host.replace(/\.localhost$/, '')
  function* changed() {
    for (let id = every; id <= records; id += every) yield { id, qty_available: `${id % 4_999}.5` }
  }
  await importRecords({ ownerUrl: url, account, resource: 'product', records: changed() })
}

/** Returns how long autovacuum took until it had processed the table. */
async function vacuumed({ url }: Fixture): Promise<number> {
  return await withClient(url, async (client) => {
    const started = performance.now()
    const before = await vacuums(client)
    await configure(client, { autovacuum: 'on', autovacuum_naptime: '1s' })
    try {
      while ((await vacuums(client)) === before) {
        if (performance.now() - started > vacuumMsMax) throw new Error('autovacuum did not process the table')
        await sleep(500)
      }
      return (performance.now() - started) / 1000
    } finally {
      await configure(client, { autovacuum: 'off', autovacuum_naptime: '1min' })
    }
  })
}

async function vacuums(client: Connection): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select autovacuum_count::int as n from pg_stat_user_tables where relname = 'product'`,
  )
  return rows[0]?.n ?? 0
}
