import type pg from 'pg'
import { to } from 'pg-copy-streams'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { seconds } from '../../../verification/src/import/bare-copy.ts'
import {
  drained,
  type ExportFixture,
  exportFixture,
} from '../../../verification/src/integrators/export-fixture.ts'
import { median } from '../numbers.ts'

const ratioMax = 2

const plain = `id, name, default_code, list_price, qty_available, active, categ_id, product_tmpl_id, is_rsd_product`
const iso = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`

/** `same`: COPY with timestamps in the format of the API. `asStored`: with PostgreSQL's own format. */
function plainCopies(accountId: string) {
  const from = `from product where account_id = ${accountId} order by id`
  const cells = `select ${plain}, ${iso('create_date')}, ${iso('write_date')} ${from}`
  const asStored = `select ${plain}, create_date, write_date ${from}`
  return {
    csv: {
      same: `copy (${cells}) to stdout (format csv, header)`,
      asStored: `copy (${asStored}) to stdout (format csv, header)`,
    },
    ndjson: {
      same: `copy (select row_to_json(f) from (${cells}) f) to stdout`,
      asStored: `copy (select row_to_json(f) from (${asStored}) f) to stdout`,
    },
  }
}

/** The time of an export divided by the time of COPY, measured alternately by the same process. The worse of both formats counts. */
export const exportTime: Check = {
  name: 'export_time',
  bound: `≤ ${ratioMax} × plain COPY`,
  async run(context) {
    const fixture = await exportFixture(context)
    const csv = await ratioOf(context, fixture, 'csv', 'text/csv')
    const ndjson = await ratioOf(context, fixture, 'ndjson', 'application/x-ndjson')
    return {
      value: `${csv.toFixed(2)} CSV, ${ndjson.toFixed(2)} NDJSON`,
      samples: fixture.records,
      ok: Math.max(csv, ndjson) <= ratioMax,
    }
  },
}

async function ratioOf(
  context: Context,
  { url, accountId, open, records }: ExportFixture,
  form: 'csv' | 'ndjson',
  accept: string,
): Promise<number> {
  const { same, asStored } = plainCopies(accountId)[form]
  const runs = { service: [] as number[], same: [] as number[], asStored: [] as number[] }
  await withClient(url, async (client) => {
    const bare = (text: string) => seconds(() => copied(client, text))
    const service = () => seconds(async () => drained(await open('', { accept })))
    // The first round is a warm-up.
    for (let round = 0; round <= context.size(5, 7); round++) {
      const times = { service: await service(), same: await bare(same), asStored: await bare(asStored) }
      if (round === 0) continue
      runs.service.push(times.service)
      runs.same.push(times.same)
      runs.asStored.push(times.asStored)
    }
  })
  const [service, bare, stored] = [median(runs.service), median(runs.same), median(runs.asStored)]
  context.log(
    `${records} products as ${form}: ${service.toFixed(2)} s; COPY of the same ${bare.toFixed(2)} s, ` +
      `with timestamps as PostgreSQL writes them ${stored.toFixed(2)} s (${(service / stored).toFixed(2)} ×)`,
  )
  return service / bare
}

async function copied(client: pg.Client, text: string): Promise<void> {
  await drained(client.query(to(text)))
}
