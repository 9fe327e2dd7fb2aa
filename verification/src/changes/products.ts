import { type PlainRecord, type Resource, resources } from '../filter-proof/schema.ts'
import type { Random } from '../random.ts'

/** The product without its timestamps, which the service sets itself. */
export const product: Resource = {
  ...resources.product,
  fields: resources.product.fields.filter(({ type }) => type !== 'timestamp'),
}

const nouns = ['bolt', 'Bolt M8', 'nut', 'washer', 'Größe 8', 'GRÖSSE', 'hinge', '100% nut', 'a_b', 'screw']

/** The values of a product, without its id. Few different ones, so that a change often moves it into or out of a filter. */
export function anyProduct(random: Random): PlainRecord {
  return {
    name: `${random.pick(nouns)} ${random.integer(1, 40)}`,
    default_code: random.chance(0.2) ? null : `C${random.integer(1, 50)}`,
    list_price: (random.integer(0, 400) / 4).toString(),
    qty_available: random.integer(-5, 60).toString(),
    active: random.chance(0.8),
    categ_id: random.chance(0.1) ? null : String(random.integer(1, 12)),
    product_tmpl_id: random.chance(0.5) ? null : String(random.integer(1, 2000)),
    is_rsd_product: random.pick([true, false, null]),
  }
}

/** As JSON: integers and decimals are numbers. */
export function asJson(record: PlainRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      const type = product.fields.find((field) => field.name === name)?.type
      const isNumber = typeof value === 'string' && (type === 'integer' || type === 'decimal')
      return [name, isNumber ? Number(value) : value]
    }),
  )
}
