import { withClient } from '../../../server/src/postgres/client.ts'
import type { PlainRecord } from '../filter-proof/schema.ts'
import { product } from './products.ts'

/**
 * The history of an account's products, recorded by triggers that only this database has: every row as it was written, with the
 * version that its transaction gave to the tally. It knows nothing of tombstones and before-images.
 */
const triggers = `
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
create trigger see_version after update on tally for each row execute function see_version();
create trigger see_row after insert or update or delete on product for each row execute function see_row();`

export async function recordHistory(url: string): Promise<void> {
  await withClient(url, (client) => client.query(triggers))
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
  return await withClient(url, async (client) => {
    const { rows } = await client.query<SeenRow>(
      `select v.version, r.id, r.row from seen_row r
         join seen_version v on v.txid = r.txid and v.resource = 'product' and v.account_id = r.account_id
         join account a on a.account_id = r.account_id and a.name = $1
        order by v.version, r.n`,
      [account],
    )
    return rows.map(({ version, id, row }) => ({ version: Number(version), id, record: plain(row) }))
  })
}

function plain(row: SeenRow['row']): PlainRecord | null {
  if (row === null) return null
  const entries = product.fields.map(({ name }) => {
    const value = row[name] ?? null
    return [name, typeof value === 'boolean' || value === null ? value : String(value)]
  })
  return Object.fromEntries(entries)
}
