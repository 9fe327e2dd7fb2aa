import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { Random } from '../../../verification/src/random.ts'
import type { DatabaseCpu } from '../cpu.ts'
import { headersOf } from '../ratios/same-work.ts'
import { productPath } from '../ratios/workloads.ts'
import { largeFixture } from './fixture.ts'

const batchRows = 10_000
const clients = 4

/** What PostgreSQL does for one changed stock value. */
interface Cost {
  readonly records: number
  readonly cpuMicroseconds: number
  readonly walBytes: number
}

/** Stock values of scattered records: single writes by several clients, and batches. No record is changed twice. */
export const stockUpdates: Check = {
  name: 'stock_updates',
  bound: 'measured',
  async run(context) {
    const { fixture, cpu } = await largeFixture(context)
    const ids = scattered(context.size(200_000, 20_000) + context.size(20_000, 2_000), context)
    const singles = ids.splice(0, context.size(20_000, 2_000))
    const client = new Client(clients)
    const headers = headersOf(fixture.large)
    const send = async (method: string, path: string, type: string, body: string) => {
      const { status, text } = await client.send({
        port: fixture.server.port,
        method,
        path,
        body,
        headers: [...headers, 'Content-Type', type],
      })
      if (status !== 200) throw new Error(`${status} ${text.slice(-300)}`)
      return text
    }
    try {
      const single = await costOf(fixture.url, cpu, singles.length, async () => {
        const patch = async (id: number) =>
          await send('PATCH', `${productPath}/${id}`, 'application/merge-patch+json', stockOf(id))
        await Promise.all(
          Array.from({ length: clients }, async (_, n) => {
            for (let i = n; i < singles.length; i += clients) await patch(singles[i] ?? 0)
          }),
        )
      })
      const batches = await costOf(fixture.url, cpu, ids.length, async () => {
        for (let from = 0; from < ids.length; from += batchRows) {
          const rows = ids.slice(from, from + batchRows)
          const body = rows.map((id) => `{"id":${id},${stockOf(id).slice(1)}\n`).join('')
          const text = await send('POST', `${productPath}/batch?mode=update`, 'application/x-ndjson', body)
          if (!text.includes(`"updated":${rows.length}`)) throw new Error(text.slice(-300))
        }
      })
      return {
        value: `${shown(single)} single, ${shown(batches)} in batches`,
        samples: single.records + batches.records,
        ok: true,
        note: `CPU time and WAL of PostgreSQL for each of ${single.records} single writes and ${batches.records} rows in batches of ${batchRows}`,
      }
    } finally {
      client.close()
    }
  },
}

/** A value that no product of the data set has. */
function stockOf(id: number): string {
  return `{"qty_available":${100_000 + (id % 1_000)}.5}`
}

function scattered(count: number, context: Context): number[] {
  const random = new Random(context.seed)
  const records = context.size(10_000_000, 1_000_000)
  const ids = new Set<number>()
  while (ids.size < count) ids.add(1 + Math.floor(random.next() * records))
  return [...ids]
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
      records,
      cpuMicroseconds: ((cpu.seconds() - seconds) / records) * 1e6,
      walBytes: ((await position()) - bytes) / records,
    }
  })
}

function shown({ cpuMicroseconds, walBytes }: Cost): string {
  return `${cpuMicroseconds.toFixed(0)} µs, ${(walBytes / 1000).toFixed(1)} kB`
}
