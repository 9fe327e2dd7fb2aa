import { DatabaseSync } from 'node:sqlite'
import { Quartermaster, type SyncState } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  decimals: 'string',
})

/** Any database with transactions will do. Each record has the mark of the walk that saw it last. */
const db = new DatabaseSync(process.argv[2] ?? 'products.db', { timeout: 10_000 })
db.exec(`
  pragma journal_mode = wal;
  create table if not exists product (id integer primary key, name text, list_price text, walk text);
  create table if not exists sync_state (resource text primary key, state text);
`)
const store = db.prepare(`
  insert into product (id, name, list_price, walk) values (?, ?, ?, ?)
  on conflict (id) do update set name = excluded.name, list_price = excluded.list_price, walk = excluded.walk
`)
const remove = db.prepare('delete from product where id = ?')
const sweepOthers = db.prepare('delete from product where walk <> ?')
const storeState = db.prepare(`insert or replace into sync_state (resource, state) values ('product', ?)`)

for await (const { deleted, upserted, sweep, state } of qm.products.sync({
  fields: ['id', 'name', 'list_price'],
  since: storedState(),
})) {
  // One transaction for everything in the batch: after a kill, the state belongs to what the copy has.
  db.exec('begin')
  for (const id of deleted) remove.run(id)
  for (const { id, name, list_price } of upserted) store.run(id, name, list_price, state.walk)
  if (sweep) sweepOthers.run(state.walk)
  storeState.run(JSON.stringify(state))
  db.exec('commit')
  console.log(`${upserted.length} stored, ${deleted.length} deleted${sweep ? ', copy complete' : ''}`)
}

function storedState(): SyncState | undefined {
  const row = db.prepare(`select state from sync_state where resource = 'product'`).get()
  return row === undefined ? undefined : JSON.parse(String(row['state']))
}
