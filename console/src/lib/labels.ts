import type { CollectionName, Field } from '../api/catalog.ts'
import { isOwnName } from '../api/own-fields.ts'

/** Names of fields for people, where the technical name in words is not enough. */
const labels: Readonly<Record<string, string>> = {
  id: 'ID',
  at: 'Time',
  default_code: 'Code',
  list_price: 'Price',
  qty_available: 'On hand',
  categ_id: 'Category',
  product_tmpl_id: 'Template',
  is_rsd_product: 'RSD product',
  company_code: 'Code',
  branch_user: 'Branch user',
  create_date: 'Created',
  write_date: 'Changed',
  created_at: 'Created',
  expires_at: 'Expires',
  revoked_at: 'Revoked',
  last_used_on: 'Last used',
  rotated_at: 'Rotated',
  actor_id: 'By',
  duration_ms: 'Duration (ms)',
  error_code: 'Error',
  to_version: 'Version',
  url: 'URL',
}

/** What the service says of a field that was declared without a label. */
const unlabelled = 'A field of this account.'

/** "Phone" for `phone`. A declared field has the label of its declaration, which is its description. */
export function labelOf({ name, description }: Pick<Field, 'name' | 'description'>): string {
  if (isOwnName(name)) return description === '' || description === unlabelled ? name : description
  const known = labels[name]
  if (known !== undefined) return known
  const words = name.replace(/^is_/, '').replaceAll('_', ' ').replace(/ id$/, '')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** What the tooltip of a label says: the technical name, which filters and the API use, and the meaning. */
export function meaningOf({ name, type, description }: Field): string {
  const meaning = isOwnName(name) || description === '' ? '' : `: ${description}`
  return `${name} (${type})${meaning}`
}

/** Lists that the service orders only by time. */
export function isSortable(collection: CollectionName, { name }: Pick<Field, 'name'>): boolean {
  const isResource = collection === 'product' || collection === 'partner' || collection === 'company'
  return isResource && !isOwnName(name)
}
