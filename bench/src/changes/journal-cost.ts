import type pg from 'pg'
import { resources } from '../../../server/src/catalog/resources.ts'
import { copyIn } from '../../../server/src/import/copy.ts'
import { ImportSession } from '../../../server/src/import/session.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { inTransaction } from '../../../server/src/postgres/transaction.ts'
import { sql } from '../../../server/src/sql.ts'
import { rowParts } from '../../../server/test/row-parts.ts'
import type { Check, Context } from '../../../verification/src/check.ts'
import { median } from '../numbers.ts'
import { anyIds, backendCpu, changesFixture, nameRow } from './fixture.ts'

const bounds = [
  { rows: 1, max: 1.45, times: 300 },
  { rows: 100, max: 1.25, times: 60 },
  { rows: 10_000, max: 1.1, times: 5 },
]

/**
 * CPU time of PostgreSQL for a write of 1, 100 and 10,000 changed records, and for the same write without a journal: to a copy of
 * the table that has all indexes but the one by version.
 */
export const journalCost: Check = {
  name: 'journal_cost',
  bound: '≤ 1.45, ≤ 1.25, ≤ 1.10',
  async run(context) {
    const { url, large } = await changesFixture(context)
    return await withClient(url, async (client) => {
      await preparePlain(client)
      const session = await ImportSession.open(client, { accountId: large.id }, resources.product, {
        trackIds: false,
        mode: 'load',
      })
      const cpu = await backendCpu(client)
      const ratios: number[] = []
      for (const { rows, times } of bounds) {
        const used: number[] = []
        const usedPlain: number[] = []
        for (let n = 0; n <= context.size(times, Math.ceil(times / 10)); n++) {
          const changed = anyIds(recordsOf(context), rows).map((id) => [id, `name ${n} ${rows}`] as const)
          const before = cpu()
          await session.write(rowParts(changed.map(([id, name]) => nameRow(id, name))))
          const between = cpu()
          await writePlain(client, large.id, changed)
          // The first write of each size is not measured.
          if (n === 0) continue
          used.push(between - before)
          usedPlain.push(cpu() - between)
        }
        ratios.push(median(used) / median(usedPlain))
      }
      return {
        value: ratios.map((ratio) => ratio.toFixed(2)).join(', '),
        samples: ratios.length,
        ok: bounds.every(({ max }, i) => (ratios[i] ?? Infinity) <= max),
      }
    })
  },
}

const recordsOf = (context: Context) => context.size(1_000_000, 100_000)

/** Its indexes are built after the rows are inserted, as those of the product: pages that were filled one by one have more free space. */
async function preparePlain(client: pg.ClientBase): Promise<void> {
  await client.query(`
    create table plain_product (like product including defaults);
    insert into plain_product select * from product;
    create table plain_tally as select account_id, 0::bigint as version from account;
    alter table plain_tally add primary key (account_id);
    create temp table plain_staging (field_mask int, id bigint primary key, name text collate "C") on commit delete rows;`)
  const { rows } = await client.query<{ definition: string }>(
    `select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'product'::regclass`,
  )
  for (const { definition } of rows)
    if (!definition.endsWith('(account_id, version, id)'))
      await client.query(definition.replace(/INDEX \S+ ON \S+/, 'INDEX ON plain_product'))
  await client.query('vacuum analyze plain_product')
  await client.query('vacuum product')
}

/** The statements of an import before there was a journal. */
async function writePlain(
  client: Connection,
  account: string,
  rows: readonly (readonly [id: number, name: string])[],
): Promise<void> {
  const ids = rows.map(([id]) => String(id))
  await inTransaction(client, async () => {
    const { rows: tally } = await client.query<{ version: string }>(
      'select (version + 1)::text as version, clock_timestamp() from plain_tally where account_id = $1 for update',
      [account],
    )
    await client.query('select id from plain_product where account_id = $1 and id = any($2::bigint[])', [
      account,
      ids,
    ])
    await copyIn(
      client,
      sql`copy plain_staging (field_mask, id, name) from stdin`.statement(),
      rows.map(([id, name]) => `3\t${id}\t${name}`),
    )
    await client.query(
      `update plain_product t set version = $3::bigint, name = s.name, write_date = now() from plain_staging s
        where t.account_id = $1::bigint and t.id = any($2::bigint[]) and t.id = s.id
          and row(t.name) is distinct from row(s.name)`,
      [account, ids, tally[0]?.version],
    )
    await client.query('update plain_tally set version = version + 1 where account_id = $1', [account])
  })
}
