import { type Mapping, priceFields, stockFields } from './mapping.ts'

/** A model whose rows change values of products without moving their `write_date`. */
export interface TouchSource {
  readonly model: string
  /** The field that names the products. */
  readonly products: string
  /** Only by late scans: what hot polls would find here, they find elsewhere. */
  readonly isLateOnly: boolean
}

/**
 * Every change of a quantity has a move line. Quants are the second net. Their rows disappear when they are merged, so they are not enough
 * alone. A price extra belongs to an attribute value of a template, and changes the price of its variants.
 */
export function touchSourcesOf({
  resource,
  fields,
}: Pick<Mapping, 'resource' | 'fields'>): readonly TouchSource[] {
  if (resource !== 'product') return []
  const reads = (names: readonly string[]) => fields.some(({ spec }) => names.includes(spec.field))
  return [
    ...(reads(stockFields)
      ? [
          { model: 'stock.move.line', products: 'product_id', isLateOnly: false },
          { model: 'stock.quant', products: 'product_id', isLateOnly: true },
        ]
      : []),
    ...(reads(priceFields)
      ? [
          {
            model: 'product.template.attribute.value',
            products: 'ptav_product_variant_ids',
            isLateOnly: false,
          },
        ]
      : []),
  ]
}
