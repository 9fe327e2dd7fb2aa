import type { Kind, ResourceName } from '@quartermaster/sync'

/** The value of a field here: a field of Odoo, or another one if the first is empty. */
export interface FieldSpec {
  readonly field: string
  readonly else?: string
  /** The type of a declared field. Default: that of the field in Odoo. */
  readonly type?: Kind
  /** A number as text, with zeros up to this length. */
  readonly digits?: number
  /** Left out without a fault if Odoo does not have it, because a module is not installed. */
  readonly isOptional?: boolean
}

/** The unique field here that has the id of the record in Odoo. */
export const keyField = 'x_odoo_id'

export const models: Readonly<Record<ResourceName, string>> = {
  product: 'product.product',
  partner: 'res.partner',
  company: 'res.company',
}

/** The types of the service's own fields. */
export const kinds: Readonly<Record<ResourceName, Readonly<Record<string, Kind>>>> = {
  product: {
    name: 'text',
    default_code: 'text',
    list_price: 'decimal',
    qty_available: 'decimal',
    active: 'boolean',
    categ_id: 'integer',
    product_tmpl_id: 'integer',
    is_rsd_product: 'boolean',
    create_date: 'timestamp',
  },
  partner: {
    name: 'text',
    is_company: 'boolean',
    is_patient: 'boolean',
    is_customer: 'boolean',
    is_vendor: 'boolean',
    is_employee: 'boolean',
    email: 'text',
    phone: 'text',
    active: 'boolean',
    create_date: 'timestamp',
  },
  company: { name: 'text', company_code: 'text', branch_user: 'text', create_date: 'timestamp' },
}

const same = (...names: readonly string[]): Record<string, FieldSpec> =>
  Object.fromEntries(names.map((name) => [name, { field: name }]))

/** What fits without a configuration. ADR 0084 says why each field that is not its namesake. */
export const defaultMapping: Readonly<Record<ResourceName, Readonly<Record<string, FieldSpec>>>> = {
  product: {
    ...same('name', 'default_code', 'active', 'categ_id', 'product_tmpl_id', 'create_date'),
    // What a customer pays for this variant. `list_price` of Odoo is that of the template, without the extras of its attributes.
    list_price: { field: 'lst_price' },
    qty_available: { field: 'qty_available', isOptional: true },
  },
  partner: {
    ...same('is_company', 'email', 'phone', 'active', 'create_date'),
    // An invoice address may have no name of its own: Odoo then shows that of its company.
    name: { field: 'name', else: 'complete_name' },
    is_customer: { field: 'customer_rank', isOptional: true },
    is_vendor: { field: 'supplier_rank', isOptional: true },
    is_employee: { field: 'employee', isOptional: true },
  },
  company: {
    ...same('name', 'create_date'),
    company_code: { field: 'company_registry', isOptional: true },
    // Odoo has no such number, and a company here needs one.
    branch_user: { field: 'id', digits: 5 },
  },
}
