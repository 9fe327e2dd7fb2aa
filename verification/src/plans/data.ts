import type pg from 'pg'

/**
 * One large account among small ones. `varied`: values as in a real account, so that `=`, ranges and
 * "contains" can be selective. `skewed`: nearly every record has the same value, so that `!=` and `![]` can be.
 */
export type DataSet = 'varied' | 'skewed'

export const largeAccount = '1'

const columns: Record<DataSet, string> = {
  varied: `
    (array['Hex bolt', 'Washer', 'Bearing', 'Gear', 'Valve', 'Pump', 'Chain', 'Sensor'])[1 + g * 7 % 8]
      || ' ' || substr(md5(g::text), 1, 8) || ' M' || g % 50,
    case when g % 10 = 0 then null else 'C-' || lpad((g * 7919 % 1000003)::text, 7, '0') end,
    trim_scale(round(g * 7919 % 100000 / 100.0, 2)), trim_scale((g * 31 % 5000)::numeric), g % 100 <> 0,
    case when g % 200 = 0 then null else g % 150 end, g / 3,
    case g % 300 when 0 then true when 1 then false end,
    timestamptz '2020-01-01T00:00:00Z' + g * interval '3 minutes',
    timestamptz '2021-01-01T00:00:00Z' + g * 7919 % 1000003 * interval '3 minutes'`,
  skewed: `
    case when g % 200 = 0 then 'Rare ' || g else 'Common article' end,
    case when g % 200 = 0 then 'R-' || g else 'STANDARD' end,
    case when g % 200 = 0 then trim_scale(g / 8.0) else 9.99 end,
    case when g % 200 = 0 then trim_scale(g::numeric) else -1 end, g % 200 <> 0,
    case when g % 200 = 0 then g else 7 end, case when g % 200 = 0 then g end,
    case when g % 200 = 0 then true end,
    case when g % 200 = 0 then timestamptz '2020-01-01T00:00:00Z' + g * interval '3 minutes' else '2019-06-01T12:00:00Z' end,
    case when g % 200 = 0 then timestamptz '2021-01-01T00:00:00Z' + g * interval '3 minutes' else '2019-06-01T12:00:00Z' end`,
}

/** Fills the migrated, empty database. Creating the indexes after the rows is faster. */
export async function fill(
  client: pg.Client,
  set: DataSet,
  records: number,
  accounts: number,
  smallRecords = 100,
): Promise<void> {
  const indexes = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes where tablename = 'product' and indexname <> 'product_pkey'`,
  )
  for (const { indexname } of indexes.rows) await client.query(`drop index ${indexname}`)
  await client.query('truncate product, tally, idempotency, api_key, account restart identity cascade')
  await client.query(`insert into account (name) select 'account-' || g from generate_series(1, $1::int) g`, [
    accounts,
  ])
  await client.query(
    `insert into tally (account_id, resource) select account_id, r
     from account, unnest(array['product', 'partner', 'company']) r`,
  )
  await client.query(
    `insert into product select ${largeAccount}, g, 1, ${columns[set]} from generate_series(1::bigint, $1) g`,
    [records],
  )
  await client.query(
    `insert into product select a, g, 1, ${columns.varied}
     from generate_series(2, $1::bigint) a, generate_series(1::bigint, $2) g`,
    [accounts, smallRecords],
  )
  await client.query(
    `update tally t set version = 1, total = n, last_id = n
     from (select account_id, count(*) as n from product group by account_id) p
     where p.account_id = t.account_id and t.resource = 'product'`,
  )
  for (const { indexdef } of indexes.rows) await client.query(indexdef)
  await client.query('vacuum analyze product')
  await client.query('vacuum analyze tally')
}
