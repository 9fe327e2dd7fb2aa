import { readFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

const separator = ';'
const encoding = 'utf-8' // or windows-1252, as older programs write it

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  fields: { product: { x_sku: 'text', x_ean: 'text', x_weight: 'decimal' } },
})

/** The header map: which column becomes which field. */
function rowOf(cell: (header: string) => string) {
  return {
    // A row without a number is rejected.
    x_sku: cell('Item no.') || null,
    name: cell('Description'),
    list_price: decimalOf(cell('Price')),
    qty_available: decimalOf(cell('Stock')),
    active: cell('Discontinued') !== 'yes',
    x_ean: cell('EAN') || null,
    x_weight: cell('Weight (kg)') === '' ? null : decimalOf(cell('Weight (kg)')),
  }
}

/** `1.234,50` is 1234.50. */
function decimalOf(text: string): string {
  return text.trim().replaceAll('.', '').replace(',', '.') || '0'
}

/** The cells of each record. Between quotes, a cell can have separators and line breaks, and `""` is a quote. */
function cellsOf(text: string): string[][] {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, 'gy')
  const records: string[][] = [[]]
  let end = 0
  for (const { 0: all, 1: quoted, 2: plain = '', 3: after, index } of text.matchAll(cell)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (after !== separator) records.push([])
    end = index + all.length
  }
  if (end < text.length)
    throw new Error(`Record ${records.length} is not closed: ${text.slice(end, end + 40)}`)
  return records.filter((cells) => cells.length > 1)
}

const [file = 'products.csv', replace] = process.argv.slice(2)
const [headers = [], ...records] = cellsOf(
  new TextDecoder(encoding, { fatal: true }).decode(readFileSync(file)),
)
if (records.length === 0) throw new Error(`${file} has no rows.`)
const products = records.map((cells) =>
  rowOf((header) => {
    const value = cells[headers.indexOf(header)]
    if (value === undefined) throw new Error(`A row has no column "${header}": ${cells.join(separator)}`)
    return value
  }),
)

const totals = await qm.products.upsert(products, {
  key: 'x_sku',
  onRejected: ({ row, field, reason }) => console.error(`${row.x_sku}: ${field} ${reason}`),
})
console.log(JSON.stringify(totals))
if (totals.rejected > 0) process.exitCode = 1
else if (replace === '--replace') {
  const { deleted } = await qm.products.upsert(missing(), { key: 'x_sku' })
  console.log(`deleted ${deleted}`)
}

/** Products with a number that is not in the file. */
async function* missing() {
  const found = new Set(products.map(({ x_sku }) => x_sku))
  const all = { fields: ['x_sku'], filter: 'x_sku!=null' } as const
  for await (const { x_sku } of qm.products.all(all))
    if (x_sku !== null && !found.has(x_sku)) yield { $delete: { x_sku } }
}
