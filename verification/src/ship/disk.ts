import { resources } from '../../../server/src/catalog/resources.ts'
import { demoRecords } from '../../../server/src/cli/demo/demo-data.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../check.ts'
import { grouped } from '../progress.ts'
import { Service } from '../service.ts'

const accounts = 10
/** Of a record, with all indexes. `docs/operating/capacity.md` calculates with these values. */
const bytesMax = 1_500

interface TableSize {
  readonly table: string
  readonly rows: number
  readonly heap: number
  readonly btree: number
  readonly gin: number
}

/** The statement of `docs/operating/capacity.md`, for one table. */
const sizeText = `select c.relname as table, greatest(c.reltuples, 1)::float8 as rows,
  (pg_table_size(c.oid))::float8 as heap,
  coalesce(sum(pg_relation_size(i.indexrelid)) filter (where m.amname = 'btree'), 0)::float8 as btree,
  coalesce(sum(pg_relation_size(i.indexrelid)) filter (where m.amname = 'gin'), 0)::float8 as gin
from pg_class c join pg_index i on i.indrelid = c.oid join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname = any($1)
group by c.oid order by c.relname`

/** Bytes on disk of each kind of row, with all indexes, after VACUUM. */
export const disk: Check = {
  name: 'disk_per_record',
  bound: `≤ ${grouped(bytesMax)} bytes`,
  async run(context) {
    const service = await Service.start({ max_wal_size: '8GB' })
    try {
      return await measure(context, service.postgres.url, service)
    } finally {
      await service.stop()
    }
  },
}

async function measure(context: Context, url: string, service: Service) {
  for (let n = 0; n < accounts; n++) {
    const account = `account-${n}`
    await service.command(['account', 'create', account])
    for (const { name: resource } of Object.values(resources)) {
      const count = (context.size(1_000_000, 20_000) / accounts) * (resource === 'company' ? 0.1 : 1)
      await importRecords({
        ownerUrl: url,
        account,
        resource,
        records: demoRecords[resource](count, context.seed + n),
      })
    }
    context.log(`${account} imported`)
  }
  await insertRows(url, context.size(200_000, 20_000))
  const tables = ['account', 'tally', 'api_key', 'audit', 'request', ...Object.keys(resources)]
  const sizes = await withClient(url, async (client) => {
    await client.query(`vacuum analyze ${tables.join(', ')}`)
    return (await client.query<TableSize>(sizeText, [tables])).rows
  })
  const perRow = (bytes: number, { rows }: TableSize) => Math.round(bytes / rows)
  const totals = new Map(sizes.map((size) => [size.table, perRow(size.heap + size.btree + size.gin, size)]))
  const largest = Math.max(...Object.keys(resources).map((name) => totals.get(name) ?? Number.NaN))
  return {
    value: Object.keys(resources)
      .map((name) => `${name} ${totals.get(name)}`)
      .join(', '),
    samples: Math.min(...sizes.map(({ rows }) => rows)),
    ok: largest <= bytesMax,
    note: sizes
      .map(
        (size) =>
          `${size.table}: ${grouped(size.rows)} rows, ${totals.get(size.table)} bytes each: table ${perRow(size.heap, size)}, ` +
          `b-tree ${perRow(size.btree, size)}, GIN ${perRow(size.gin, size)}`,
      )
      .join('\n'),
  }
}

/** Accounts with their tallies, a key and its audit record, and rows of the request log, as the service writes them. */
async function insertRows(url: string, count: number): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`insert into account (name) select 'many-' || n from generate_series(1, $1::int) n`, [
      count,
    ])
    await client.query(
      `insert into tally (account_id, resource) select account_id, r from account, unnest(array['product', 'partner', 'company']) r
       where name like 'many-%'`,
    )
    await client.query(
      `insert into api_key (account_id, key_id, hash, name, scopes)
       select account_id, substr(md5(name), 1, 8), sha256(name::bytea), 'web shop', array['product:read', 'partner:read', 'partner:create']
       from account where name like 'many-%'`,
    )
    await client.query(
      `insert into audit (account_id, id, action, subject, actor, actor_id, application, address)
       select account_id, md5(name), 'account.create', name, 'operator', 'root', 'quartermaster command line', 'host'
       from account where name like 'many-%'`,
    )
    await client.query(
      `insert into request (account_id, at, id, request_id, key_id, method, path, query, filter, status, duration_ms, records, bytes, cached)
       select a.account_id, now() - n * interval '1 s', md5(a.name || n), gen_random_uuid()::text, 'abcdefgh', 'GET', '/api/v1/inventory/product',
         'fields=id,name&page=' || n, 'list_price>' || n || '&active=true', 200, 1.234, 10, 1234, false
       from account a, generate_series(1, $1::int / 10) n where a.name like 'account-%'`,
      [count],
    )
  })
}
