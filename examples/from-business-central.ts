import { readFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

/** A row of /api/v2.0/companies(…)/items. A text that is empty is "". */
interface Item {
  readonly id: string
  readonly number: string
  readonly displayName: string
  readonly gtin: string
  readonly unitPrice: number
  readonly inventory: number
  readonly blocked: boolean
  readonly itemCategoryCode: string
  readonly baseUnitOfMeasureCode: string
  readonly lastModifiedDateTime: string
}

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  fields: {
    product: {
      x_bc_id: 'text',
      x_gtin: 'text',
      x_category: 'text',
      x_unit: 'text',
      x_bc_modified: 'timestamp',
    },
  },
})

function rowOf(item: Item) {
  return {
    x_bc_id: item.id.toLowerCase(),
    name: item.displayName || item.number,
    default_code: item.number,
    list_price: item.unitPrice,
    qty_available: item.inventory,
    active: !item.blocked,
    x_gtin: item.gtin || null,
    x_category: item.itemCategoryCode || null,
    x_unit: item.baseUnitOfMeasureCode || null,
    x_bc_modified: timeOf(item.lastModifiedDateTime),
  }
}

/** Up to seven digits after the point, of which three are kept. The year 1 stands for no time. */
function timeOf(text: string): string | null {
  return text.startsWith('0001-') ? null : new Date(text).toISOString()
}

const args = process.argv.slice(2)
const files = args.filter((arg) => arg !== '--replace')
const items = files.flatMap((file) => {
  const page: { readonly value: readonly Item[] } = JSON.parse(readFileSync(file, 'utf8'))
  return page.value
})
if (items.length === 0) throw new Error('Usage: from-business-central.ts PAGE... [--replace], with rows')

const totals = await qm.products.upsert(items.map(rowOf), {
  key: 'x_bc_id',
  onRejected: ({ row, field, reason }) => console.error(`${row.x_bc_id}: ${field} ${reason}`),
})
console.log(JSON.stringify(totals))
if (totals.rejected > 0) process.exitCode = 1
else if (args.includes('--replace')) {
  const { deleted } = await qm.products.upsert(missing(), { key: 'x_bc_id' })
  console.log(`deleted ${deleted}`)
}

/** Products with a GUID that is in none of the pages. */
async function* missing() {
  const found = new Set(items.map(({ id }) => id.toLowerCase()))
  const all = { fields: ['x_bc_id'], filter: 'x_bc_id!=null' } as const
  for await (const { x_bc_id } of qm.products.all(all))
    if (x_bc_id !== null && !found.has(x_bc_id)) yield { $delete: { x_bc_id } }
}
