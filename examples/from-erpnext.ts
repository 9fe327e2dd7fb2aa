import { readFileSync } from 'node:fs'
import { Quartermaster } from '@quartermaster/client'

/** Rows as /api/resource/Item, /api/resource/Item Price and /api/resource/Bin return them. */
interface Item {
  /** The primary key. */
  readonly item_code: string
  readonly item_name: string
  readonly item_group: string
  readonly stock_uom: string
  readonly weight_per_unit: number
  readonly disabled: 0 | 1
  readonly creation: string
  readonly modified: string
}

interface ItemPrice {
  readonly item_code: string
  readonly price_list_rate: number
}

/** The stock of an item in a warehouse. */
interface Bin {
  readonly item_code: string
  readonly actual_qty: number
}

const qm = new Quartermaster({
  baseUrl: process.env['QUARTERMASTER_URL'] ?? '',
  apiKey: process.env['QUARTERMASTER_KEY'] ?? '',
  fields: {
    product: {
      x_item_code: 'text',
      x_item_group: 'text',
      x_unit: 'text',
      x_weight: 'decimal',
      x_erpnext_modified: 'timestamp',
    },
  },
})

function rowOf(item: Item, prices: readonly ItemPrice[], bins: readonly Bin[], timeZone: string) {
  const quantity = bins.reduce((sum, { actual_qty }) => sum + actual_qty, 0)
  return {
    x_item_code: item.item_code,
    name: item.item_name,
    default_code: item.item_code,
    list_price: rounded(prices[0]?.price_list_rate ?? 0),
    qty_available: rounded(quantity),
    active: item.disabled === 0,
    create_date: utc(item.creation, timeZone),
    x_item_group: item.item_group,
    x_unit: item.stock_uom,
    x_weight: rounded(item.weight_per_unit),
    x_erpnext_modified: utc(item.modified, timeZone),
  }
}

/** Sums of doubles have more digits than their terms: 0.1 + 0.2 is 0.30000000000000004. */
function rounded(value: number): string {
  return value.toFixed(6)
}

/** ERPNext writes the local time of its site, with microseconds: 2026-11-14 10:30:00.123456. */
function utc(local: string, timeZone: string): string {
  const time = local.slice(0, 23).replace(' ', 'T')
  const guess = new Date(`${time}Z`)
  // The offset depends on the moment, which the first offset finds but for the hours around a change to summer time.
  const near = new Date(time + offsetAt(guess, timeZone))
  return new Date(time + offsetAt(near, timeZone)).toISOString()
}

/** Such as `+01:00`. */
function offsetAt(moment: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value
  return name?.replace('GMT', '') || 'Z'
}

const [itemsFile = '', pricesFile = '', binsFile = '', timeZone = 'UTC', replace] = process.argv.slice(2)
const items: { readonly data: readonly Item[] } = JSON.parse(readFileSync(itemsFile, 'utf8'))
const prices: { readonly data: readonly ItemPrice[] } = JSON.parse(readFileSync(pricesFile, 'utf8'))
const bins: { readonly data: readonly Bin[] } = JSON.parse(readFileSync(binsFile, 'utf8'))
if (items.data.length === 0) throw new Error(`${itemsFile} has no rows.`)
const pricesOf = Map.groupBy(prices.data, ({ item_code }) => item_code)
const binsOf = Map.groupBy(bins.data, ({ item_code }) => item_code)

const totals = await qm.products.upsert(
  items.data.map((item) =>
    rowOf(item, pricesOf.get(item.item_code) ?? [], binsOf.get(item.item_code) ?? [], timeZone),
  ),
  {
    key: 'x_item_code',
    onRejected: ({ row, field, reason }) => console.error(`${row.x_item_code}: ${field} ${reason}`),
  },
)
console.log(JSON.stringify(totals))
if (totals.rejected > 0) process.exitCode = 1
else if (replace === '--replace') {
  const { deleted } = await qm.products.upsert(missing(), { key: 'x_item_code' })
  console.log(`deleted ${deleted}`)
}

/** Products with an item code that is not in the file. */
async function* missing() {
  const found = new Set(items.data.map(({ item_code }) => item_code))
  const all = { fields: ['x_item_code'], filter: 'x_item_code!=null' } as const
  for await (const { x_item_code } of qm.products.all(all))
    if (x_item_code !== null && !found.has(x_item_code)) yield { $delete: { x_item_code } }
}
