import { describe, expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { account } from './database.ts'
import { freshService } from './service.ts'

/**
 * Filters with many matches that are a small part of the account, at either end of the order: pages found by a bounded scan, and pages for
 * which it ends before they are full, equal those of one plain statement.
 */

const { client, service } = await freshService()
const acme = await account(client, 'acme')
const first = limits.filterSortRecordsMax + 9_000
const records = first + limits.filterSortRecordsMax + 2_000
await client.query(
  `insert into partner
   select $1, g, 1, case when g > $2 then 'Zinc' else 'Bolt' end || g, false, false, g > $2, false, false, null,
     case when g % 3 = 0 then null when g > $2 then '1' else '2' end, true,
     timestamptz '2020-01-01T00:00:00Z' + g * interval '1 minute', '2021-01-01T00:00:00Z'
   from generate_series(1, $3::int) g`,
  [acme.accountId, first, records],
)
// As if these were a small part of the account, without inserting the others.
await client.query(
  `update tally set version = 1, total = $2, last_id = $3 where account_id = $1 and resource = 'partner'`,
  [acme.accountId, records * limits.rareMatchesFactor, records],
)
await client.query('analyze partner')

const newest = `create_date>${new Date(Date.UTC(2020, 0, 1) + first * 60_000).toISOString()}`
const filters = [
  [newest, `create_date > timestamptz '2020-01-01T00:00:00Z' + ${first} * interval '1 minute'`],
  ['is_customer=true', 'is_customer'],
  ['is_customer=true&phone!=2', 'is_customer'],
  ['name*zinc', `name like 'Zinc%'`],
  [`id>${first}&is_customer=true`, 'is_customer'],
] as const
const orders = [
  ['', 'id'],
  ['&sort=-id', 'id desc'],
  ['&sort=name', 'name collate "C", id'],
  ['&sort=-name', 'name collate "C" desc, id desc'],
  ['&sort=phone', 'phone collate "C" nulls last, id'],
  ['&sort=-phone', 'phone collate "C" desc nulls last, id desc'],
  ['&sort=write_date', 'write_date, id'],
] as const

describe('pages of many matches in a much larger account', () => {
  it.each(filters)('%s equal one ordered statement, before and after a write', async (filter, where) => {
    for (const write of [false, true]) {
      if (write) await service.post(acme, '/api/v1/resources/partner', { name: 'Written' })
      for (const [sort, order] of orders) {
        const { rows } = await client.query<{ id: number }>(
          `select id::int from partner where account_id = $1 and ${where} order by ${order}`,
          [acme.accountId],
        )
        expect(rows.length).toBeGreaterThan(limits.filterSortRecordsMax)
        for (const [limit, page] of [
          [10, 1],
          [10, 2],
          [1000, 14],
          [1000, 15],
          [7, 2_900],
          [1000, Math.ceil(rows.length / 1000)],
        ] as const) {
          const path = `/api/v1/resources/partner?fields=id&limit=${limit}&page=${page}&filter=${encodeURIComponent(filter)}${sort}`
          const { status, body } = await service.request(acme, 'GET', path)
          expect({ status, body }, path).toMatchObject({
            status: 200,
            body: { data: rows.slice((page - 1) * limit, page * limit), meta: { total: rows.length } },
          })
        }
      }
    }
  })
})
