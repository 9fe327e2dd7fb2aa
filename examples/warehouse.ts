import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})
const table = process.argv[2] ?? 'products.ndjson'
const checkpoint = `${table}.checkpoint`

// Resume after the last id that an earlier run has stored: records are returned by ascending id.
const last = existsSync(checkpoint) ? Number(readFileSync(checkpoint, 'utf8')) : 0

let batch: { readonly id: number }[] = []
let loaded = 0
const fields = ['id', 'name', 'default_code', 'list_price', 'qty_available', 'write_date'] as const
for await (const product of qm.products.all({ fields, filter: ({ id }) => id.gt(last) })) {
  batch.push(product)
  if (batch.length === 5_000) load()
}
load()
console.log(`${loaded} products loaded.`)

/** Appends to a file. For a warehouse, use COPY or a bulk upsert by id, so that loading a batch twice is harmless. */
function load(): void {
  const end = batch.at(-1)
  if (end === undefined) return
  appendFileSync(table, batch.map((product) => `${JSON.stringify(product)}\n`).join(''))
  writeFileSync(checkpoint, String(end.id))
  loaded += batch.length
  batch = []
}
