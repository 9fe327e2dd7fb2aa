import { readFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

/** A row of product.product, as search_read returns it. A field that is empty is false. */
interface OdooProduct {
  readonly id: number
  readonly name: string
  readonly default_code: string | false
  readonly barcode: string | false
  readonly lst_price: number
  readonly qty_available: number
  readonly weight: number
  readonly active: boolean
  readonly categ_id: Many2one
  readonly product_tmpl_id: Many2one
  readonly create_date: string
  readonly write_date: string
}

/** Only the id if the request has `"load": null`. */
type Many2one = readonly [id: number, name: string] | number | false

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  fields: {
    product: {
      x_odoo_id: 'integer',
      x_barcode: 'text',
      x_category: 'text',
      x_weight: 'decimal',
      x_odoo_write_date: 'timestamp',
    },
  },
})

function rowOf(product: OdooProduct) {
  return {
    x_odoo_id: product.id,
    name: product.name,
    default_code: product.default_code || null,
    list_price: rounded(product.lst_price),
    qty_available: rounded(product.qty_available),
    active: product.active,
    categ_id: idOf(product.categ_id),
    product_tmpl_id: idOf(product.product_tmpl_id),
    create_date: utc(product.create_date),
    x_barcode: product.barcode || null,
    x_category: Array.isArray(product.categ_id) ? String(product.categ_id[1]) : null,
    x_weight: rounded(product.weight),
    x_odoo_write_date: utc(product.write_date),
  }
}

/** Odoo calculates with doubles, so 0.3 can be 0.30000000000000004. */
function rounded(value: number): string {
  return value.toFixed(6)
}

function idOf(value: Many2one): number | null {
  if (value === false) return null
  return typeof value === 'number' ? value : value[0]
}

/** Odoo returns UTC without saying so: 2026-11-14 09:30:00. */
function utc(text: string): string {
  return `${text.replace(' ', 'T')}Z`
}

const [file = 'products.json', replace] = process.argv.slice(2)
const products: readonly OdooProduct[] = JSON.parse(readFileSync(file, 'utf8'))
if (products.length === 0) throw new Error(`${file} has no rows.`)

const totals = await qm.products.upsert(products.map(rowOf), {
  key: 'x_odoo_id',
  onRejected: ({ row, field, reason }) => console.error(`${row.x_odoo_id}: ${field} ${reason}`),
})
console.log(JSON.stringify(totals))
if (totals.rejected > 0) process.exitCode = 1
else if (replace === '--replace') {
  const { deleted } = await qm.products.upsert(missing(), { key: 'x_odoo_id' })
  console.log(`deleted ${deleted}`)
}

/** Products with an Odoo id that is not in the file. */
async function* missing() {
  const found = new Set(products.map(({ id }) => id))
  const all = { fields: ['x_odoo_id'], filter: 'x_odoo_id!=null' } as const
  for await (const { x_odoo_id } of qm.products.all(all))
    if (x_odoo_id !== null && !found.has(x_odoo_id)) yield { $delete: { x_odoo_id } }
}
