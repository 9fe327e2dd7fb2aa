import type { CollectionName } from '../../api/catalog.ts'

/** What one record of a list is called, and several. */
export const nouns: Readonly<Record<CollectionName, { readonly one: string; readonly many: string }>> = {
  product: { one: 'product', many: 'products' },
  partner: { one: 'partner', many: 'partners' },
  company: { one: 'company', many: 'companies' },
  key: { one: 'key', many: 'keys' },
  audit: { one: 'change', many: 'changes' },
  request: { one: 'request', many: 'requests' },
  usage: { one: 'usage record', many: 'usage' },
  webhook: { one: 'webhook', many: 'webhooks' },
  delivery: { one: 'delivery', many: 'deliveries' },
  field: { one: 'field', many: 'fields' },
}

/** Names of fields for people, where the technical name in words is not enough. */
export const fieldLabels: Readonly<Record<string, string>> = {
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

/** What fields mean, by list. None: as the catalog says. */
export const fieldMeanings: Partial<Readonly<Record<CollectionName, Readonly<Record<string, string>>>>> = {}
