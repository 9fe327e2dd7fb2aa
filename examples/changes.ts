import { readFileSync, writeFileSync } from 'node:fs'
import { type Product, Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})
const file = process.argv[2] ?? 'products.json'

/** The copy of the previous run, and the cursor up to which it is complete. */
let { cursor, products }: { cursor?: string | undefined; products: [number, Product][] } = read()
const copy = new Map(products)

let count = 0
for await (const change of qm.products.changes({ since: cursor })) {
  if ('record' in change) copy.set(change.id, change.record)
  else copy.delete(change.id)
  cursor = change.cursor
  count += 1
}
products = [...copy]
writeFileSync(file, JSON.stringify({ cursor, products }))
console.log(`${count} changes, ${copy.size} products in the copy`)

function read() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { products: [] }
  }
}
