import type pg from 'pg'
import { withClient } from '../../../server/src/postgres/client.ts'
import { singleServer } from '../../../server/src/postgres/layout.ts'
import type { PlainRecord } from '../filter-proof/schema.ts'
import { product } from './products.ts'

/**
 * The changes of an account's products, recorded by triggers that only this database has: every row as it was written, with the
 * version that its transaction gave to the tally. It knows nothing of tombstones and before-images.
 */
const recorder = `
create table seen_version (txid xid8, version bigint, resource text, account_id bigint);
create table seen_row (n bigserial, txid xid8, account_id bigint, id bigint, row jsonb);
grant insert on seen_version, seen_row to quartermaster_writer;
grant usage on sequence seen_row_n_seq to quartermaster_writer;
create function see_version() returns trigger language plpgsql as $$ begin
  if new.version <> old.version then
    insert into seen_version values (pg_current_xact_id(), new.version, new.resource, new.account_id);
  end if;
  return null;
end $$;
create function see_row() returns trigger language plpgsql as $$ begin
  if tg_op = 'DELETE' then insert into seen_row (txid, account_id, id) values (pg_current_xact_id(), old.account_id, old.id);
  else insert into seen_row (txid, account_id, id, row) values (pg_current_xact_id(), new.account_id, new.id, to_jsonb(new)); end if;
  return null;
end $$;
`

export async function recordChanges(url: string): Promise<void> {
  await onEachNode(url, async (client, tablesOf) => {
    await client.query(recorder)
    for (const table of await tablesOf('tally')) {
      const trigger = 'for each row execute function see_version()'
      await client.query(`create trigger see_version after update on ${table} ${trigger}`)
    }
    for (const table of await tablesOf('product')) {
      const trigger = 'for each row execute function see_row()'
      await client.query(`create trigger see_row after insert or update or delete on ${table} ${trigger}`)
    }
  })
}

/** Runs `work` on the server with the tables; on Citus on every worker, where `tablesOf` are the shards. */
async function onEachNode(
  url: string,
  work: (client: pg.Client, tablesOf: (name: string) => Promise<string[]>) => Promise<void>,
): Promise<void> {
  const workers = await withClient(url, async (client) => {
    if (client.layout === singleServer) {
      await work(client, async (name) => [name])
      return []
    }
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 and noderole = 'primary'`,
    )
    return rows
  })
  for (const { host, port } of workers) {
    const worker = new URL(url)
    worker.host = `${host}:${port}`
    await withClient(worker.href, async (client) => {
      await client.query('set citus.enable_ddl_propagation = off; set citus.override_table_visibility = off')
      await work(client, async (name) => {
        const { rows } = await client.query<{ name: string }>(
          `select shard_name as name from citus_shards where table_name = $1::regclass and nodeport = $2`,
          [name, port],
        )
        return rows.map((row) => row.name)
      })
    })
  }
}

export interface Change {
  readonly version: number
  readonly id: string
  /** Null: deleted. */
  readonly record: PlainRecord | null
}

interface SeenRow {
  readonly version: string
  readonly id: string
  readonly row: Readonly<Record<string, string | number | boolean | null>> | null
}

/** All changes so far, in the order in which they became visible. */
export async function changesSoFar(url: string, account: string): Promise<Change[]> {
  const changes: Change[] = []
  await onEachNode(url, async (client) => {
    const { rows } = await client.query<SeenRow>(
      `select v.version, r.id, r.row from seen_row r
         join seen_version v on v.txid = r.txid and v.resource = 'product' and v.account_id = r.account_id
         join account a on a.account_id = r.account_id and a.name = $1
        order by v.version, r.n`,
      [account],
    )
    changes.push(
      ...rows.map(({ version, id, row }) => ({ version: Number(version), id, record: plain(row) })),
    )
  })
  return changes
}

function plain(row: SeenRow['row']): PlainRecord | null {
  if (row === null) return null
  const entries = product.fields.map(({ name }) => {
    const value = row[name] ?? null
    return [name, typeof value === 'boolean' || value === null ? value : String(value)]
  })
  return Object.fromEntries(entries)
}
