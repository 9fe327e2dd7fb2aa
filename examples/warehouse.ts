import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})
const table = process.argv[2] ?? 'products.ndjson'
const mark = `${table}.mark`

// Where an earlier run was stopped, this one goes on: ids only grow, and a walk goes by id.
const last = existsSync(mark) ? Number(readFileSync(mark, 'utf8')) : 0

let batch: { readonly id: number }[] = []
let loaded = 0
const fields = ['id', 'name', 'default_code', 'list_price', 'qty_available', 'write_date'] as const
for await (const product of qm.products.all({ fields, filter: ({ id }) => id.gt(last) })) {
  batch.push(product)
  if (batch.length === 5_000) load()
}
load()
console.log(`${loaded} products loaded.`)

/** Here a file; in a warehouse one COPY or one bulk insert by id, so that a batch may come twice. */
function load(): void {
  const end = batch.at(-1)
  if (end === undefined) return
  appendFileSync(table, batch.map((product) => `${JSON.stringify(product)}\n`).join(''))
  writeFileSync(mark, String(end.id))
  loaded += batch.length
  batch = []
}
