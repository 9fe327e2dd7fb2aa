// Generated from the OpenAPI document: npm run wire --workspace client

/** Where the lists are. */
export const paths = {
  product: '/api/v1/inventory/product',
  partner: '/api/v1/resources/partner',
  company: '/api/v1/resources/company',
} as const

/** A product of the inventory. */
export interface Product {
  /** Identifies the record within its account and resource. From 1 on, never reused. */
  readonly id: number
  /** The name people know it by. */
  readonly name: string
  /** The product code. */
  readonly default_code: string | null
  /** The price, exact. */
  readonly list_price: number
  /** The quantity on hand, exact. */
  readonly qty_available: number
  /** Whether the product is in use. Inactive products are listed like any other. */
  readonly active: boolean
  /** The category. */
  readonly categ_id: number | null
  /** The template. */
  readonly product_tmpl_id: number | null
  /** True, false, or null where it was never told. */
  readonly is_rsd_product: boolean | null
  /** When the record was created. */
  readonly create_date: string
  /** When the record was last changed. */
  readonly write_date: string
}

/** What a filter takes each field for. */
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
  /** Identifies the record within its account and resource. From 1 on, never reused. */
  readonly id: number
  /** The name people know it by. */
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
  /** The address to write to. */
  readonly email: string | null
  /** The number to call. */
  readonly phone: string | null
  /** Whether the partner is in use. Inactive partners are listed like any other. */
  readonly active: boolean
  /** When the record was created. */
  readonly create_date: string
  /** When the record was last changed. */
  readonly write_date: string
}

/** What a filter takes each field for. */
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
  /** Identifies the record within its account and resource. From 1 on, never reused. */
  readonly id: number
  /** The name people know it by. */
  readonly name: string
  /** The code of the company. */
  readonly company_code: string | null
  /** A number as text: leading zeros stay. */
  readonly branch_user: string
  /** When the record was created. */
  readonly create_date: string
  /** When the record was last changed. */
  readonly write_date: string
}

/** What a filter takes each field for. */
export interface CompanyKinds {
  readonly id: 'integer'
  readonly name: 'text'
  readonly company_code: 'text'
  readonly branch_user: 'text'
  readonly create_date: 'timestamp'
  readonly write_date: 'timestamp'
}

export interface NewPartner {
  readonly name: string
}

export interface Meta {
  /** Records in this answer. */
  readonly count: number
  /** Records that match the filter, exactly. */
  readonly total: number
}

export interface Pagination {
  /** Null on the first page; beyond the last, the last page that exists. */
  readonly previousPage: number | null
  /** The page returned. */
  readonly currentPage: number
  /** Null on the last page and beyond. */
  readonly nextPage: number | null
  /** The total divided by the limit, rounded up. */
  readonly totalPages: number
}

/** An error, as RFC 9457 has it. */
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
    | 'media_type_unsupported'
    | 'body_too_large'
    | 'url_too_long'
    | 'headers_too_large'
    | 'idempotency_conflict'
    | 'idempotency_mismatch'
    | 'overloaded'
    | 'store_away'
    | 'outcome_unknown'
    | 'deadline_exceeded'
    | 'internal'
  /** As in `X-Request-Id`; name it when you ask for help. */
  readonly request_id: string
  readonly errors?: readonly Fault[]
}

/** One thing that is wrong, and where. */
export interface Fault {
  /** The query parameter or header. */
  readonly parameter?: string
  /** The place in a JSON body. */
  readonly pointer?: string
  readonly code: string
  readonly message: string
  /** From 0, in UTF-16 code units of the decoded parameter. */
  readonly offset?: number
  readonly length?: number
  /** What could stand there instead. */
  readonly expected?: readonly string[]
  /** The whole parameter, corrected, where that can be told. */
  readonly suggestion?: string
}
