import fc from 'fast-check'
import { expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import { noTotals, writeRows } from '../src/import/import-rows.ts'
import { ndjsonRows } from '../src/import/ndjson.ts'
import type { RowFault } from '../src/import/row.ts'
import { ImportSession } from '../src/import/session.ts'
import { account, connected, freshDatabase } from './database.ts'

/** Lines take effect in their order, and the result does not depend on which of them share a transaction. */

const resource = resources.product
let number = 0

const client = await connected(await freshDatabase())

async function apply(accountId: string, lines: readonly object[], batchRows: number) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const totals = noTotals()
  const faults: RowFault[] = []
  const session = await ImportSession.open(client, { accountId }, resource, { trackIds: false, mode: 'load' })
  const input = {
    resource,
    chunks: ndjsonRows(
      resource,
      (async function* () {
        yield Buffer.from(text)
      })(),
    ),
    totals,
    onFaults: (found: readonly RowFault[]) => {
      faults.push(...found)
    },
  }
  await writeRows(session, input, () => batchRows)
  return { totals, faults: faults.toSorted((a, b) => a.line - b.line) }
}

/** The records without the dates, which are the time of the write unless a line has them. */
async function state(accountId: string) {
  const records = await client.query(
    `select id, name, default_code, list_price, qty_available, active, categ_id,
       case when create_date < '2020-01-01' then create_date end as create_date,
       case when write_date < '2020-01-01' then write_date end as write_date
     from product where account_id = $1 order by id`,
    [accountId],
  )
  const tally = await client.query(
    `select total, last_id from tally where account_id = $1 and resource = 'product'`,
    [accountId],
  )
  return { records: records.rows, tally: tally.rows }
}

const id = fc.integer({ min: 1, max: 4 })
const day = fc.constantFrom('2001-01-01', '2002-02-02T10:00:00Z')
const upsert = fc.record(
  {
    id,
    name: fc.constantFrom('a', 'b', 'tab\tand \\ and line\nfeed', ''),
    default_code: fc.constantFrom('x', null),
    list_price: fc.constantFrom(0, 1, 1.5, '2.50'),
    active: fc.boolean(),
    create_date: day,
    write_date: day,
  },
  { requiredKeys: ['id'] },
)
const line = fc.oneof({ weight: 3, arbitrary: upsert }, fc.record({ $delete: id }))

it('the same lines give the same records, totals and faults with every size of a transaction', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 14 }),
      fc.array(line, { minLength: 1, maxLength: 14 }),
      fc.constantFrom(1, 2, 3),
      async (before, lines, rows) => {
        const results = []
        for (const size of [rows, 1000]) {
          const { accountId } = await account(client, `sizes${++number}`)
          const first = await apply(accountId, [{ id: 1, name: 'one' }, ...before], size)
          const second = await apply(accountId, [{ id: 1, active: true }, ...lines], size)
          results.push({ first, second, ...(await state(accountId)) })
        }
        expect(results[0]).toEqual(results[1])
      },
    ),
    { numRuns: 25 },
  )
})
