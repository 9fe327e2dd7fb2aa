// Generated from the OpenAPI document: npm run wire --workspace client

/** The path of each list. */
export const paths = {
  product: '/api/v1/inventory/product',
  partner: '/api/v1/resources/partner',
  company: '/api/v1/resources/company',
  key: '/manage/v1/keys',
  audit: '/manage/v1/audit',
  request: '/manage/v1/requests',
  usage: '/manage/v1/usage',
  field: '/manage/v1/fields',
  webhook: '/manage/v1/webhooks',
  delivery: '/manage/v1/deliveries',
} as const

/** A product of the inventory. */
export interface Product {
  /** Identifies the record in its account and resource. Starts at 1 and is never reused. */
  readonly id: number
  /** The name. */
  readonly name: string
  /** The product code. */
  readonly default_code: string | null
  /** The price, exact. */
  readonly list_price: number
  /** The quantity on hand, exact. */
  readonly qty_available: number
  /** Whether the product is in use. Lists include inactive products. */
  readonly active: boolean
  /** The category. */
  readonly categ_id: number | null
  /** The template. */
  readonly product_tmpl_id: number | null
  /** Whether it is an RSD product; null if unknown. */
  readonly is_rsd_product: boolean | null
  /** When the record was created. */
  readonly create_date: string
  /** When the record was last changed. */
  readonly write_date: string
}

/** The type of each field in a filter. */
export interface ProductKinds {
  readonly id: 'integer'
  readonly name: 'text'
  readonly default_code: 'text'
  readonly list_price: 'decimal'
  readonly qty_available: 'decimal'
  readonly active: 'boolean'
  readonly categ_id: 'integer'
  readonly product_tmpl_id: 'integer'
  readonly is_rsd_product: 'boolean'
  readonly create_date: 'timestamp'
  readonly write_date: 'timestamp'
}

/** A customer, a vendor or an employee. */
export interface Partner {
  /** Identifies the record in its account and resource. Starts at 1 and is never reused. */
  readonly id: number
  /** The name. */
  readonly name: string
  /** Whether the partner is a company rather than a person. */
  readonly is_company: boolean
  /** Whether the partner is a patient. */
  readonly is_patient: boolean
  /** Whether the partner buys from the account. */
  readonly is_customer: boolean
  /** Whether the account buys from the partner. */
  readonly is_vendor: boolean
  /** Whether the partner works for the account. */
  readonly is_employee: boolean
  /** The email address. */
  readonly email: string | null
  /** The phone number. */
  readonly phone: string | null
  /** Whether the partner is in use. Lists include inactive partners. */
  readonly active: boolean
  /** When the record was created. */
  readonly create_date: string
  /** When the record was last changed. */
  readonly write_date: string
}

/** The type of each field in a filter. */
export interface PartnerKinds {
  readonly id: 'integer'
  readonly name: 'text'
  readonly is_company: 'boolean'
  readonly is_patient: 'boolean'
  readonly is_customer: 'boolean'
  readonly is_vendor: 'boolean'
  readonly is_employee: 'boolean'
  readonly email: 'text'
  readonly phone: 'text'
  readonly active: 'boolean'
  readonly create_date: 'timestamp'
  readonly write_date: 'timestamp'
}

/** A company of the account. */
export interface Company {
  /** Identifies the record in its account and resource. Starts at 1 and is never reused. */
  readonly id: number
  /** The name. */
  readonly name: string
  /** The code of the company. */
  readonly company_code: string | null
  /** A number as text, with leading zeros. */
  readonly branch_user: string
  /** When the record was created. */
  readonly create_date: string
  /** When the record was last changed. */
  readonly write_date: string
}

/** The type of each field in a filter. */
export interface CompanyKinds {
  readonly id: 'integer'
  readonly name: 'text'
  readonly company_code: 'text'
  readonly branch_user: 'text'
  readonly create_date: 'timestamp'
  readonly write_date: 'timestamp'
}

/** An API key of the account. The key itself is shown once, when it is created. */
export interface Key {
  /** Identifies the key. Not a secret. */
  readonly key_id: string
  /** What the key is for. */
  readonly name: string
  /** What the key may do. In a filter, a comma-separated text. */
  readonly scopes: readonly string[]
  /** active; rotating: replaced by another key, and valid until it expires; expired; revoked. */
  readonly state: string
  /** When it was created. */
  readonly created_at: string
  /** When it expires; null: never. */
  readonly expires_at: string | null
  /** When it was revoked; null: not revoked. */
  readonly revoked_at: string | null
  /** The key that replaces it. */
  readonly rotated_to: string | null
  /** The day, in UTC, of its last accepted request; null: none yet. */
  readonly last_used_on: string | null
}

/** The type of each field in a filter. */
export interface KeyKinds {
  readonly key_id: 'text'
  readonly name: 'text'
  readonly scopes: 'text'
  readonly state: 'text'
  readonly created_at: 'timestamp'
  readonly expires_at: 'timestamp'
  readonly revoked_at: 'timestamp'
  readonly rotated_to: 'text'
  readonly last_used_on: 'timestamp'
}

/** A change of the account or of one of its keys: who, what, when, from where. */
export interface Audit {
  /** Identifies the entry within its account. */
  readonly id: string
  /** When the change was made. */
  readonly at: string
  /** The change: account.create, account.suspend, account.activate, account.limit, account.cors, account.restore, account.ids, account.import, account.export, key.create, key.rotate, key.revoke, webhook.create, webhook.change, webhook.activate, webhook.pause, webhook.rotate, webhook.replay, webhook.delete, field.create, field.change, field.delete, record.erase, record.erased. */
  readonly action: string
  /** What was changed: a key, webhook or field id, or an account or resource name. */
  readonly subject: string
  /** A description of the change. */
  readonly details: string | null
  /** Who made the change: a key, or the operator. */
  readonly actor: string
  /** The key id, or the operator's user name. */
  readonly actor_id: string
  /** The request's User-Agent, or the command line. */
  readonly application: string | null
  /** The client's address, or the operator's machine. */
  readonly address: string | null
}

/** The type of each field in a filter. */
export interface AuditKinds {
  readonly id: 'text'
  readonly at: 'timestamp'
  readonly action: 'text'
  readonly subject: 'text'
  readonly details: 'text'
  readonly actor: 'text'
  readonly actor_id: 'text'
  readonly application: 'text'
  readonly address: 'text'
}

/** A request in the last 14 days with one of the account's keys. */
export interface Request {
  /** Identifies the entry within its account. */
  readonly id: string
  /** When it was received. */
  readonly at: string
  /** As in `X-Request-Id` and in errors. */
  readonly request_id: string
  /** The request's key. */
  readonly key_id: string
  /** The method. */
  readonly method: string
  /** The path, decoded. */
  readonly path: string
  /** The parameters without the filter, decoded. */
  readonly query: string | null
  /** The filter, decoded. */
  readonly filter: string | null
  /** The status of the response. */
  readonly status: number
  /** The code of the error; null: no error. */
  readonly error_code: string | null
  /** The detail of the error. */
  readonly error_detail: string | null
  /** Milliseconds until the response was sent. */
  readonly duration_ms: number
  /** Records in the response. */
  readonly records: number
  /** Bytes of the response body as sent. */
  readonly bytes: number
  /** Whether the response was cached or not modified, so nothing was read. False if the request shared a read with others. */
  readonly cached: boolean
}

/** The type of each field in a filter. */
export interface RequestKinds {
  readonly id: 'text'
  readonly at: 'timestamp'
  readonly request_id: 'text'
  readonly key_id: 'text'
  readonly method: 'text'
  readonly path: 'text'
  readonly query: 'text'
  readonly filter: 'text'
  readonly status: 'integer'
  readonly error_code: 'text'
  readonly error_detail: 'text'
  readonly duration_ms: 'decimal'
  readonly records: 'integer'
  readonly bytes: 'integer'
  readonly cached: 'boolean'
}

/** A key's requests on a route in a day or a minute. */
export interface Usage {
  /** When the day or minute began, in UTC. */
  readonly at: string
  /** The request's key. */
  readonly key_id: string
  /** Method and path, with {id} for an id. */
  readonly route: string
  /** The number of requests. */
  readonly requests: number
  /** Requests with a status of 400 or more. */
  readonly errors: number
  /** Requests missing from the request log, because they arrived faster than it could be written. */
  readonly unlogged: number
  /** The 50th percentile of the duration in milliseconds, within 5 %. */
  readonly p50_ms: number
  /** The 95th percentile of the duration in milliseconds, within 5 %. */
  readonly p95_ms: number
  /** The 99th percentile of the duration in milliseconds, within 5 %. */
  readonly p99_ms: number
}

/** The type of each field in a filter. */
export interface UsageKinds {
  readonly at: 'timestamp'
  readonly key_id: 'text'
  readonly route: 'text'
  readonly requests: 'integer'
  readonly errors: 'integer'
  readonly unlogged: 'integer'
  readonly p50_ms: 'decimal'
  readonly p95_ms: 'decimal'
  readonly p99_ms: 'decimal'
}

/** A field that the account has declared for a resource, or has made unique. */
export interface Field {
  /** Identifies the field: its resource and its name. */
  readonly id: string
  /** The resource: product, partner or company. */
  readonly resource: string
  /** The name of the field in records. */
  readonly name: string
  /** text, integer, decimal, boolean or timestamp. */
  readonly type: string
  /** What the field means, for people. */
  readonly label: string
  /** Whether values are unique, so that a record can be addressed by one. */
  readonly unique: boolean
  /** ready; building: the values of existing records are being read; duplicates: two records have the same value, so the field is not unique. */
  readonly state: string
  /** When it was declared. */
  readonly created_at: string
}

/** The type of each field in a filter. */
export interface FieldKinds {
  readonly id: 'text'
  readonly resource: 'text'
  readonly name: 'text'
  readonly type: 'text'
  readonly label: 'text'
  readonly unique: 'boolean'
  readonly state: 'text'
  readonly created_at: 'timestamp'
}

/** An endpoint that receives a resource's changes. */
export interface Webhook {
  /** Identifies the webhook. */
  readonly id: string
  /** The resource: product, partner or company. */
  readonly resource: string
  /** The receiver's URL. */
  readonly url: string
  /** Only records that match this filter; null: all. */
  readonly filter: string | null
  /** The fields that are sent; null: all. In a filter, a comma-separated text. */
  readonly fields: readonly string[] | null
  /** pending: not activated yet; active; paused: by an administrator, or after failures; disabled: the receiver responded with 410. */
  readonly status: string
  /** Why it is paused or disabled: requested, failing, gone, cursor_expired, query_invalid. */
  readonly reason: string | null
  /** When it was created. */
  readonly created_at: string
  /** When its secret was last rotated. */
  readonly rotated_at: string | null
  /** The last version that was delivered completely. */
  readonly delivered_version: number
  /** Failed attempts since the last delivery. */
  readonly failures: number
  /** When the first of them was made. */
  readonly failing_since: string | null
  /** The earliest time of the next attempt. */
  readonly due_at: string
}

/** The type of each field in a filter. */
export interface WebhookKinds {
  readonly id: 'text'
  readonly resource: 'text'
  readonly url: 'text'
  readonly filter: 'text'
  readonly fields: 'text'
  readonly status: 'text'
  readonly reason: 'text'
  readonly created_at: 'timestamp'
  readonly rotated_at: 'timestamp'
  readonly delivered_version: 'integer'
  readonly failures: 'integer'
  readonly failing_since: 'timestamp'
  readonly due_at: 'timestamp'
}

/** A message to the receiver of a webhook, in the last 14 days. Contents are not stored. */
export interface Delivery {
  /** Identifies the entry within its account. */
  readonly id: string
  /** When the result was known. */
  readonly at: string
  /** The webhook. */
  readonly webhook_id: string
  /** The header webhook-id. Retries have the same id. */
  readonly message_id: string
  /** changes, challenge or test. */
  readonly kind: string
  /** The number of changes. */
  readonly changes: number
  /** The version up to which everything had been delivered before. */
  readonly from_version: number
  /** The version of the last change. */
  readonly to_version: number
  /** The status of the response; null: there was none. */
  readonly status: number | null
  /** null: delivered. status: the status was not 2xx. challenge: the challenge was not returned. Otherwise why there was no response. */
  readonly error: string | null
  /** Milliseconds until the response. */
  readonly duration_ms: number
}

/** The type of each field in a filter. */
export interface DeliveryKinds {
  readonly id: 'text'
  readonly at: 'timestamp'
  readonly webhook_id: 'text'
  readonly message_id: 'text'
  readonly kind: 'text'
  readonly changes: 'integer'
  readonly from_version: 'integer'
  readonly to_version: 'integer'
  readonly status: 'integer'
  readonly error: 'text'
  readonly duration_ms: 'decimal'
}

/** The fields that are decimals. */
export const decimalFields = ['list_price', 'qty_available'] as const

export interface NewProduct {
  /** The name. */
  readonly name: string
  /** The product code. */
  readonly default_code?: string | null
  /** The price, exact. */
  readonly list_price?: number | string
  /** The quantity on hand, exact. */
  readonly qty_available?: number | string
  /** Whether the product is in use. Lists include inactive products. */
  readonly active?: boolean
  /** The category. */
  readonly categ_id?: number | null
  /** The template. */
  readonly product_tmpl_id?: number | null
  /** Whether it is an RSD product; null if unknown. */
  readonly is_rsd_product?: boolean | null
}

export interface NewPartner {
  /** The name. */
  readonly name: string
  /** Whether the partner is a company rather than a person. */
  readonly is_company?: boolean
  /** Whether the partner is a patient. */
  readonly is_patient?: boolean
  /** Whether the partner buys from the account. */
  readonly is_customer?: boolean
  /** Whether the account buys from the partner. */
  readonly is_vendor?: boolean
  /** Whether the partner works for the account. */
  readonly is_employee?: boolean
  /** The email address. */
  readonly email?: string | null
  /** The phone number. */
  readonly phone?: string | null
  /** Whether the partner is in use. Lists include inactive partners. */
  readonly active?: boolean
}

export interface NewCompany {
  /** The name. */
  readonly name: string
  /** The code of the company. */
  readonly company_code?: string | null
  /** A number as text, with leading zeros. */
  readonly branch_user: string
}

export interface Meta {
  /** Records in this response. */
  readonly count: number
  /** The exact number of records that match the filter. */
  readonly total: number
}

export interface Pagination {
  /** Null on the first page. Beyond the last page: the last page. */
  readonly previousPage: number | null
  /** The page returned. */
  readonly currentPage: number
  /** Null on the last page and beyond it. */
  readonly nextPage: number | null
  /** The total divided by the limit, rounded up. */
  readonly totalPages: number
}

export interface SummaryMeta {
  /** Groups in this response. */
  readonly count: number
  /** The exact number of records that match the filter. */
  readonly total: number
}

/** A problem document (RFC 9457). */
export interface Problem {
  readonly type: string
  /** The same for every error of this code. */
  readonly title: string
  readonly status: number
  /** What is wrong with this request, for a person. */
  readonly detail: string
  /** What is wrong, for a program. */
  readonly code:
    | 'request_invalid'
    | 'body_invalid'
    | 'unauthenticated'
    | 'scope_missing'
    | 'path_unknown'
    | 'record_unknown'
    | 'method_not_allowed'
    | 'precondition_failed'
    | 'media_type_unsupported'
    | 'rows_rejected'
    | 'body_too_large'
    | 'url_too_long'
    | 'expectation_failed'
    | 'headers_too_large'
    | 'idempotency_key_required'
    | 'idempotency_conflict'
    | 'idempotency_mismatch'
    | 'adjustment_impossible'
    | 'key_already_created'
    | 'key_not_active'
    | 'keys_exhausted'
    | 'records_exhausted'
    | 'idempotency_exhausted'
    | 'audit_exhausted'
    | 'key_taken'
    | 'key_unknown'
    | 'key_not_ready'
    | 'values_not_unique'
    | 'account_unknown'
    | 'account_exists'
    | 'account_name_retired'
    | 'account_deleting'
    | 'field_exists'
    | 'fields_exhausted'
    | 'webhooks_exhausted'
    | 'webhook_unverified'
    | 'webhooks_unavailable'
    | 'account_rate_exceeded'
    | 'key_rate_exceeded'
    | 'account_busy'
    | 'client_disconnected'
    | 'export_limit'
    | 'feed_limit'
    | 'cursor_expired'
    | 'overloaded'
    | 'database_unavailable'
    | 'shutting_down'
    | 'outcome_unknown'
    | 'deadline_exceeded'
    | 'total_pending'
    | 'internal'
  /** The same as `X-Request-Id`. Quote it in a support request. */
  readonly request_id: string
  readonly errors?: readonly Fault[]
}

/** One fault of the request and its position. */
export interface Fault {
  /** The query parameter or header. */
  readonly parameter?: string
  /** The position in a JSON body. */
  readonly pointer?: string
  readonly code: string
  readonly message: string
  /** Position in the decoded parameter, in UTF-16 code units, from 0. */
  readonly offset?: number
  readonly length?: number
  /** What is expected at this position. */
  readonly expected?: readonly string[]
  /** The complete parameter, corrected, if a correction is known. */
  readonly suggestion?: string
}

export interface Self {
  /** The account's name. */
  readonly account: string
  /** Identifies the key. Not a secret. */
  readonly key_id: string
  /** What the key is for. */
  readonly name: string
  /** What the key may do. In a filter, a comma-separated text. */
  readonly scopes: readonly string[]
  /** active; rotating: replaced by another key, and valid until it expires; expired; revoked. */
  readonly state: string
  /** When it was created. */
  readonly created_at: string
  /** When it expires; null: never. */
  readonly expires_at: string | null
}

/** An API key of the account. The key itself is shown once, when it is created. */
export interface NewKey {
  /** The key itself, shown only once. */
  readonly key: string
  /** Identifies the key. Not a secret. */
  readonly key_id: string
  /** What the key is for. */
  readonly name: string
  /** What the key may do. In a filter, a comma-separated text. */
  readonly scopes: readonly string[]
  /** active; rotating: replaced by another key, and valid until it expires; expired; revoked. */
  readonly state: string
  /** When it was created. */
  readonly created_at: string
  /** When it expires; null: never. */
  readonly expires_at: string | null
  /** When it was revoked; null: not revoked. */
  readonly revoked_at: string | null
  /** The key that replaces it. */
  readonly rotated_to: string | null
  /** The day, in UTC, of its last accepted request; null: none yet. */
  readonly last_used_on: string | null
}

export interface NewKeyRequest {
  readonly name: string
  readonly scopes: readonly (
    | 'product:read'
    | 'product:write'
    | 'partner:read'
    | 'partner:create'
    | 'partner:write'
    | 'partner:erase'
    | 'company:read'
    | 'company:write'
    | 'account:manage'
  )[]
  /** A date or date-time in the future; null: the key never expires. */
  readonly expires_at?: string | null
}

export interface KeyRotation {
  /** How long the old key stays valid; 0 revokes it immediately. */
  readonly overlap_seconds: number
  /** A date or date-time in the future; null: the key never expires. Default: the new key is valid for as long as the old one was. */
  readonly expires_at?: string | null
}

/** An endpoint that receives a resource's changes. */
export interface WebhookSecret {
  /** Identifies the webhook. */
  readonly id: string
  /** The resource: product, partner or company. */
  readonly resource: string
  /** The receiver's URL. */
  readonly url: string
  /** Only records that match this filter; null: all. */
  readonly filter: string | null
  /** The fields that are sent; null: all. In a filter, a comma-separated text. */
  readonly fields: readonly string[] | null
  /** pending: not activated yet; active; paused: by an administrator, or after failures; disabled: the receiver responded with 410. */
  readonly status: string
  /** Why it is paused or disabled: requested, failing, gone, cursor_expired, query_invalid. */
  readonly reason: string | null
  /** When it was created. */
  readonly created_at: string
  /** When its secret was last rotated. */
  readonly rotated_at: string | null
  /** The last version that was delivered completely. */
  readonly delivered_version: number
  /** Failed attempts since the last delivery. */
  readonly failures: number
  /** When the first of them was made. */
  readonly failing_since: string | null
  /** The earliest time of the next attempt. */
  readonly due_at: string
  /** The secret that signs, in the format of Standard Webhooks. */
  readonly secret: string
}

export interface NewWebhookRequest {
  readonly resource: 'product' | 'partner' | 'company'
  readonly url: string
  /** Only records that match it; null: all. */
  readonly filter?: string | null
  /** null: all. */
  readonly fields?: readonly string[] | null
  /** Where the changes begin: `now`, `beginning` (with every record), the number of a version, or a cursor of the change feed. */
  readonly since?: string | number
}

export interface WebhookChange {
  readonly url?: string
  /** Only records that match it; null: all. */
  readonly filter?: string | null
  /** null: all. */
  readonly fields?: readonly string[] | null
}

export interface WebhookReplay {
  /** Where the changes begin: `now`, `beginning` (with every record), the number of a version, or a cursor of the change feed. */
  readonly since: string | number
}

export interface WebhookTest {
  readonly message_id: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
}
