import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { Random } from '../../../verification/src/random.ts'
import type { DatabaseCpu } from '../cpu.ts'
import { configure, type Fixture } from '../ratios/fixture.ts'
import { headersOf } from '../ratios/same-work.ts'
import { productPath } from '../ratios/workloads.ts'
import { largeFixture } from './fixture.ts'

const batchRows = 10_000
const clients = 4
/** How often a batch is sent whose result the service did not learn. */
const attemptsMax = 5

/** What PostgreSQL does for one changed stock value. */
interface Cost {
  readonly cpuMicroseconds: number
  readonly walBytes: number
}

/**
 * Stock values of scattered records: single writes by several clients, and batches. No record is changed twice. The second half of the
 * batches is written without images of whole pages in the WAL, which a page has only once after a checkpoint.
 */
export const stockUpdates: Check = {
  name: 'stock_updates',
  bound: 'measured',
  async run(context) {
    const { fixture, cpu } = await largeFixture(context)
    const [inBatches, alone] = [context.size(200_000, 40_000), context.size(20_000, 4_000)]
    const ids = scattered(inBatches + alone, context)
    const singles = ids.splice(0, alone)
    const halves = [ids.slice(0, inBatches / 2), ids.slice(inBatches / 2)] as const
    const stockOf = newStock()
    const sender = new Sender(fixture)
    const batches = async (half: readonly number[]) => {
      for (let from = 0; from < half.length; from += batchRows)
        await sender.batch(half.slice(from, from + batchRows), stockOf)
    }
    try {
      const single = await costOf(fixture.url, cpu, singles.length, async () => {
        await Promise.all(
          Array.from({ length: clients }, async (_, n) => {
            for (let i = n; i < singles.length; i += clients) await sender.patch(singles[i] ?? 0, stockOf)
          }),
        )
      })
      const [withImages, without] = halves
      const batch = await costOf(fixture.url, cpu, withImages.length, () => batches(withImages))
      const plain = await withoutImages(fixture, () =>
        costOf(fixture.url, cpu, without.length, () => batches(without)),
      )
      return {
        value: `${shown(single)} single, ${shown(batch)} in batches`,
        samples: inBatches + alone,
        ok: true,
        note: [
          `CPU time and WAL of PostgreSQL for each of ${alone} single writes and ${withImages.length} rows in batches of ${batchRows}`,
          `${without.length} rows in batches without images of pages: ${shown(plain)}`,
          `${await bytesPerProduct(fixture.url)} bytes on disk per product after it`,
          `${sender.repeated} batches were sent again`,
        ].join('\n'),
      }
    } finally {
      sender.close()
    }
  },
}

/** The stock value of every record of the account, in one import: each record leaves a dead row. */
export const allStock: Check = {
  name: 'all_stock',
  bound: 'measured',
  async run(context) {
    const { fixture, cpu } = await largeFixture(context)
    const account = fixture.large.host.replace(/\.localhost$/, '')
    const records = recordsOf(context)
    const stockOf = newStock()
    function* changed() {
      for (let id = 1; id <= records; id++) yield { id, qty_available: stockOf(id) }
    }
    const started = performance.now()
    const cost = await costOf(fixture.url, cpu, records, async () => {
      await importRecords({ ownerUrl: fixture.url, account, resource: 'product', records: changed() })
    })
    return {
      value: shown(cost),
      samples: records,
      ok: true,
      note: [
        `CPU time and WAL of PostgreSQL for each of ${records} rows of one import, ${Math.round((performance.now() - started) / 1000)} s`,
        `${await bytesPerProduct(fixture.url)} bytes on disk per product after it`,
      ].join('\n'),
    }
  },
}

/** Sends the writes of one client program, each with values that no record has. */
class Sender {
  readonly #fixture: Fixture
  readonly #client = new Client(clients)
  #repeated = 0

  constructor(fixture: Fixture) {
    this.#fixture = fixture
  }

  get repeated(): number {
    return this.#repeated
  }

  close(): void {
    this.#client.close()
  }

  async patch(id: number, stockOf: StockOf): Promise<void> {
    const body = `{"qty_available":${stockOf(id)}}`
    await this.#send('PATCH', `${productPath}/${id}`, 'application/merge-patch+json', body)
  }

  async batch(ids: readonly number[], stockOf: StockOf): Promise<void> {
    const body = ids.map((id) => `{"id":${id},"qty_available":${stockOf(id)}}\n`).join('')
    for (let attempt = 1; ; attempt++) {
      const text = await this.#send('POST', `${productPath}/batch?mode=update`, 'application/x-ndjson', body)
      const { $end, $error }: BatchResult = JSON.parse(text.trim().split('\n').at(-1) ?? '{}')
      // What an earlier attempt wrote without a confirmation is unchanged.
      if ($end !== undefined && $end.updated + (attempt > 1 ? $end.unchanged : 0) === ids.length) return
      if ($error?.code !== 'outcome_unknown' || attempt === attemptsMax) throw new Error(text.slice(-300))
      this.#repeated += 1
    }
  }

  async #send(method: string, path: string, type: string, body: string): Promise<string> {
    const { status, text } = await this.#client.send({
      port: this.#fixture.server.port,
      method,
      path,
      body,
      headers: [...headersOf(this.#fixture.large), 'Content-Type', type],
    })
    if (status !== 200) throw new Error(`${status} ${text.slice(-300)}`)
    return text
  }
}

interface BatchResult {
  readonly $end?: { readonly updated: number; readonly unchanged: number }
  readonly $error?: { readonly code: string }
}

type StockOf = (id: number) => number

/** Values that no product of the data set has, nor any that an earlier measurement has written. */
function newStock(): StockOf {
  const measurement = Math.floor(Date.now() / 1000)
  return (id) => measurement * 1_000 + (id % 1_000)
}

function recordsOf(context: Context): number {
  return context.size(10_000_000, 1_000_000)
}

function scattered(count: number, context: Context): number[] {
  const random = new Random(context.seed)
  const ids = new Set<number>()
  while (ids.size < count) ids.add(1 + Math.floor(random.next() * recordsOf(context)))
  return [...ids]
}

async function withoutImages<T>({ url }: Fixture, work: () => Promise<T>): Promise<T> {
  return await withClient(url, async (client) => {
    await configure(client, { full_page_writes: 'off' })
    try {
      return await work()
    } finally {
      await configure(client, { full_page_writes: 'on' })
    }
  })
}

async function costOf(
  url: string,
  cpu: DatabaseCpu,
  records: number,
  work: () => Promise<void>,
): Promise<Cost> {
  return withClient(url, async (client) => {
    const position = async () => {
      const { rows } = await client.query<{ bytes: string }>(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
      )
      return Number(rows[0]?.bytes)
    }
    // Each page is then written whole once, as after any checkpoint.
    await client.query('checkpoint')
    const [bytes, seconds] = [await position(), cpu.seconds()]
    await work()
    return {
      cpuMicroseconds: ((cpu.seconds() - seconds) / records) * 1e6,
      walBytes: ((await position()) - bytes) / records,
    }
  })
}

async function bytesPerProduct(url: string): Promise<number> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ bytes: number }>(
      `select (pg_total_relation_size('product') / (select count(*) from product))::float8 as bytes`,
    )
    return rows[0]?.bytes ?? 0
  })
}

function shown({ cpuMicroseconds, walBytes }: Cost): string {
  return `${cpuMicroseconds.toFixed(0)} µs, ${(walBytes / 1000).toFixed(1)} kB`
}
