// Generated from the catalog of the server: npm run catalog -w console
import type { Operator } from '@quartermaster/filter'

export type FieldType = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'
export type CollectionName = 'product' | 'partner' | 'company' | 'key' | 'audit' | 'request' | 'usage' | 'webhook' | 'delivery' | 'field'

export interface Field {
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  readonly description: string
}

export interface Collection {
  readonly name: CollectionName
  readonly noun: string
  readonly plural: string
  readonly path: string
  readonly description: string
  readonly fields: readonly Field[]
}

export const operatorsOf: Record<FieldType, readonly Operator[]> = {"text":["=","!=","*","!*","[]","![]"],"integer":["=","!=",">",">=","<","<=","[]","![]"],"decimal":["=","!=",">",">=","<","<=","[]","![]"],"timestamp":["=","!=",">",">=","<","<=","[]","![]"],"boolean":["=","!=","[]","![]"]}

export const collections: Record<CollectionName, Collection> = {
  product: {
    name: "product",
    noun: "product",
    plural: "products",
    path: "/api/v1/inventory/product",
    description: "A product of the inventory.",
    fields: [
      {"name":"id","type":"integer","nullable":false,"description":"Identifies the record in its account and resource. Starts at 1 and is never reused."},
      {"name":"name","type":"text","nullable":false,"description":"The name."},
      {"name":"default_code","type":"text","nullable":true,"description":"The product code."},
      {"name":"list_price","type":"decimal","nullable":false,"description":"The price, exact."},
      {"name":"qty_available","type":"decimal","nullable":false,"description":"The quantity on hand, exact."},
      {"name":"active","type":"boolean","nullable":false,"description":"Whether the product is in use. Lists include inactive products."},
      {"name":"categ_id","type":"integer","nullable":true,"description":"The category."},
      {"name":"product_tmpl_id","type":"integer","nullable":true,"description":"The template."},
      {"name":"is_rsd_product","type":"boolean","nullable":true,"description":"Whether it is an RSD product; null if unknown."},
      {"name":"create_date","type":"timestamp","nullable":false,"description":"When the record was created."},
      {"name":"write_date","type":"timestamp","nullable":false,"description":"When the record was last changed."},
    ],
  },
  partner: {
    name: "partner",
    noun: "partner",
    plural: "partners",
    path: "/api/v1/resources/partner",
    description: "A customer, a vendor or an employee.",
    fields: [
      {"name":"id","type":"integer","nullable":false,"description":"Identifies the record in its account and resource. Starts at 1 and is never reused."},
      {"name":"name","type":"text","nullable":false,"description":"The name."},
      {"name":"is_company","type":"boolean","nullable":false,"description":"Whether the partner is a company rather than a person."},
      {"name":"is_patient","type":"boolean","nullable":false,"description":"Whether the partner is a patient."},
      {"name":"is_customer","type":"boolean","nullable":false,"description":"Whether the partner buys from the account."},
      {"name":"is_vendor","type":"boolean","nullable":false,"description":"Whether the account buys from the partner."},
      {"name":"is_employee","type":"boolean","nullable":false,"description":"Whether the partner works for the account."},
      {"name":"email","type":"text","nullable":true,"description":"The email address."},
      {"name":"phone","type":"text","nullable":true,"description":"The phone number."},
      {"name":"active","type":"boolean","nullable":false,"description":"Whether the partner is in use. Lists include inactive partners."},
      {"name":"create_date","type":"timestamp","nullable":false,"description":"When the record was created."},
      {"name":"write_date","type":"timestamp","nullable":false,"description":"When the record was last changed."},
    ],
  },
  company: {
    name: "company",
    noun: "company",
    plural: "companies",
    path: "/api/v1/resources/company",
    description: "A company of the account.",
    fields: [
      {"name":"id","type":"integer","nullable":false,"description":"Identifies the record in its account and resource. Starts at 1 and is never reused."},
      {"name":"name","type":"text","nullable":false,"description":"The name."},
      {"name":"company_code","type":"text","nullable":true,"description":"The code of the company."},
      {"name":"branch_user","type":"text","nullable":false,"description":"A number as text, with leading zeros."},
      {"name":"create_date","type":"timestamp","nullable":false,"description":"When the record was created."},
      {"name":"write_date","type":"timestamp","nullable":false,"description":"When the record was last changed."},
    ],
  },
  key: {
    name: "key",
    noun: "key",
    plural: "keys",
    path: "/manage/v1/keys",
    description: "An API key of the account. The key itself is shown once, when it is created.",
    fields: [
      {"name":"key_id","type":"text","nullable":false,"description":"Identifies the key. Not a secret."},
      {"name":"name","type":"text","nullable":false,"description":"What the key is for."},
      {"name":"scopes","type":"text","nullable":false,"description":"What the key may do. In a filter, a comma-separated text."},
      {"name":"state","type":"text","nullable":false,"description":"active; rotating: replaced by another key, and valid until it expires; expired; revoked."},
      {"name":"created_at","type":"timestamp","nullable":false,"description":"When it was created."},
      {"name":"expires_at","type":"timestamp","nullable":true,"description":"When it expires; null: never."},
      {"name":"revoked_at","type":"timestamp","nullable":true,"description":"When it was revoked; null: not revoked."},
      {"name":"rotated_to","type":"text","nullable":true,"description":"The key that replaces it."},
      {"name":"last_used_on","type":"timestamp","nullable":true,"description":"The day, in UTC, of its last accepted request; null: none yet."},
    ],
  },
  audit: {
    name: "audit",
    noun: "change",
    plural: "changes",
    path: "/manage/v1/audit",
    description: "A change of the account or of one of its keys: who, what, when, from where.",
    fields: [
      {"name":"id","type":"text","nullable":false,"description":"Identifies the entry within its account."},
      {"name":"at","type":"timestamp","nullable":false,"description":"When the change was made."},
      {"name":"action","type":"text","nullable":false,"description":"The change: account.create, account.suspend, account.activate, account.limit, account.cors, account.restore, account.ids, account.import, account.export, key.create, key.rotate, key.revoke, webhook.create, webhook.change, webhook.activate, webhook.pause, webhook.rotate, webhook.replay, webhook.delete, field.create, field.change, field.delete, record.erase, record.erased."},
      {"name":"subject","type":"text","nullable":false,"description":"What was changed: a key, webhook or field id, or an account or resource name."},
      {"name":"details","type":"text","nullable":true,"description":"A description of the change."},
      {"name":"actor","type":"text","nullable":false,"description":"Who made the change: a key, or the operator."},
      {"name":"actor_id","type":"text","nullable":false,"description":"The key id, or the operator's user name."},
      {"name":"application","type":"text","nullable":true,"description":"The request's User-Agent, or the command line."},
      {"name":"address","type":"text","nullable":true,"description":"The client's address, or the operator's machine."},
    ],
  },
  request: {
    name: "request",
    noun: "request",
    plural: "requests",
    path: "/manage/v1/requests",
    description: "A request in the last 14 days with one of the account's keys.",
    fields: [
      {"name":"id","type":"text","nullable":false,"description":"Identifies the entry within its account."},
      {"name":"at","type":"timestamp","nullable":false,"description":"When it was received."},
      {"name":"request_id","type":"text","nullable":false,"description":"As in `X-Request-Id` and in errors."},
      {"name":"key_id","type":"text","nullable":false,"description":"The request's key."},
      {"name":"method","type":"text","nullable":false,"description":"The method."},
      {"name":"path","type":"text","nullable":false,"description":"The path, decoded."},
      {"name":"query","type":"text","nullable":true,"description":"The parameters without the filter, decoded."},
      {"name":"filter","type":"text","nullable":true,"description":"The filter, decoded."},
      {"name":"status","type":"integer","nullable":false,"description":"The status of the response."},
      {"name":"error_code","type":"text","nullable":true,"description":"The code of the error; null: no error."},
      {"name":"error_detail","type":"text","nullable":true,"description":"The detail of the error."},
      {"name":"duration_ms","type":"decimal","nullable":false,"description":"Milliseconds until the response was sent."},
      {"name":"records","type":"integer","nullable":false,"description":"Records in the response."},
      {"name":"bytes","type":"integer","nullable":false,"description":"Bytes of the response body as sent."},
      {"name":"cached","type":"boolean","nullable":false,"description":"Whether the response was cached or not modified, so nothing was read. False if the request shared a read with others."},
    ],
  },
  usage: {
    name: "usage",
    noun: "usage record",
    plural: "usage",
    path: "/manage/v1/usage",
    description: "A key's requests on a route in a day or a minute.",
    fields: [
      {"name":"at","type":"timestamp","nullable":false,"description":"When the day or minute began, in UTC."},
      {"name":"key_id","type":"text","nullable":false,"description":"The request's key."},
      {"name":"route","type":"text","nullable":false,"description":"Method and path, with {id} for an id."},
      {"name":"requests","type":"integer","nullable":false,"description":"The number of requests."},
      {"name":"errors","type":"integer","nullable":false,"description":"Requests with a status of 400 or more."},
      {"name":"unlogged","type":"integer","nullable":false,"description":"Requests missing from the request log, because they arrived faster than it could be written."},
      {"name":"p50_ms","type":"decimal","nullable":false,"description":"The 50th percentile of the duration in milliseconds, within 5 %."},
      {"name":"p95_ms","type":"decimal","nullable":false,"description":"The 95th percentile of the duration in milliseconds, within 5 %."},
      {"name":"p99_ms","type":"decimal","nullable":false,"description":"The 99th percentile of the duration in milliseconds, within 5 %."},
    ],
  },
  webhook: {
    name: "webhook",
    noun: "webhook",
    plural: "webhooks",
    path: "/manage/v1/webhooks",
    description: "An endpoint that receives a resource's changes.",
    fields: [
      {"name":"id","type":"text","nullable":false,"description":"Identifies the webhook."},
      {"name":"resource","type":"text","nullable":false,"description":"The resource: product, partner or company."},
      {"name":"url","type":"text","nullable":false,"description":"The receiver's URL."},
      {"name":"filter","type":"text","nullable":true,"description":"Only records that match this filter; null: all."},
      {"name":"fields","type":"text","nullable":true,"description":"The fields that are sent; null: all. In a filter, a comma-separated text."},
      {"name":"status","type":"text","nullable":false,"description":"pending: not activated yet; active; paused: by an administrator, or after failures; disabled: the receiver responded with 410."},
      {"name":"reason","type":"text","nullable":true,"description":"Why it is paused or disabled: requested, failing, gone, cursor_expired, query_invalid."},
      {"name":"created_at","type":"timestamp","nullable":false,"description":"When it was created."},
      {"name":"rotated_at","type":"timestamp","nullable":true,"description":"When its secret was last rotated."},
      {"name":"delivered_version","type":"integer","nullable":false,"description":"The last version that was delivered completely."},
      {"name":"failures","type":"integer","nullable":false,"description":"Failed attempts since the last delivery."},
      {"name":"failing_since","type":"timestamp","nullable":true,"description":"When the first of them was made."},
      {"name":"due_at","type":"timestamp","nullable":false,"description":"The earliest time of the next attempt."},
    ],
  },
  delivery: {
    name: "delivery",
    noun: "delivery",
    plural: "deliveries",
    path: "/manage/v1/deliveries",
    description: "A message to the receiver of a webhook, in the last 14 days. Contents are not stored.",
    fields: [
      {"name":"id","type":"text","nullable":false,"description":"Identifies the entry within its account."},
      {"name":"at","type":"timestamp","nullable":false,"description":"When the result was known."},
      {"name":"webhook_id","type":"text","nullable":false,"description":"The webhook."},
      {"name":"message_id","type":"text","nullable":false,"description":"The header webhook-id. Retries have the same id."},
      {"name":"kind","type":"text","nullable":false,"description":"changes, challenge or test."},
      {"name":"changes","type":"integer","nullable":false,"description":"The number of changes."},
      {"name":"from_version","type":"integer","nullable":false,"description":"The version up to which everything had been delivered before."},
      {"name":"to_version","type":"integer","nullable":false,"description":"The version of the last change."},
      {"name":"status","type":"integer","nullable":true,"description":"The status of the response; null: there was none."},
      {"name":"error","type":"text","nullable":true,"description":"null: delivered. status: the status was not 2xx. challenge: the challenge was not returned. Otherwise why there was no response."},
      {"name":"duration_ms","type":"decimal","nullable":false,"description":"Milliseconds until the response."},
    ],
  },
  field: {
    name: "field",
    noun: "field",
    plural: "fields",
    path: "/manage/v1/fields",
    description: "A field that the account has declared for a resource, or has made unique.",
    fields: [
      {"name":"id","type":"text","nullable":false,"description":"Identifies the field: its resource and its name."},
      {"name":"resource","type":"text","nullable":false,"description":"The resource: product, partner or company."},
      {"name":"name","type":"text","nullable":false,"description":"The name of the field in records."},
      {"name":"type","type":"text","nullable":false,"description":"text, integer, decimal, boolean or timestamp."},
      {"name":"label","type":"text","nullable":false,"description":"What the field means, for people."},
      {"name":"unique","type":"boolean","nullable":false,"description":"Whether values are unique, so that a record can be addressed by one."},
      {"name":"state","type":"text","nullable":false,"description":"ready; building: the values of existing records are being read; duplicates: two records have the same value, so the field is not unique."},
      {"name":"created_at","type":"timestamp","nullable":false,"description":"When it was declared."},
    ],
  },
}
