import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type Product, Quartermaster } from '@quartermaster/client'

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
})
const file = process.argv[2] ?? 'copy.json'

/** The copy of the previous run: products by id, and their latest `write_date`. */
const copy: { since: string; products: Record<number, Product> } = read()

let changed = 0
for await (const product of qm.products.export({ filter: ({ write_date }) => write_date.gte(copy.since) })) {
  copy.products[product.id] = product
  if (product.write_date > copy.since) copy.since = product.write_date
  changed += 1
}
writeFileSync(`${file}.new`, JSON.stringify(copy))
renameSync(`${file}.new`, file)
console.log(`${changed} products read, ${Object.keys(copy.products).length} in the copy, up to ${copy.since}`)

function read() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { since: '0001-01-01', products: {} }
  }
}
