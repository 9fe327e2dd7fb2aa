/**
 * The resources of `docs/reference/records.md`, defined independently of the server, so that an error in its catalog is detected. The
 * fixture compares them with the fields that the service returns.
 */
export type FieldType = 'integer' | 'decimal' | 'text' | 'boolean' | 'timestamp'

export interface Field {
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  /** The largest number of characters of a text. */
  readonly max?: number
}

export type ResourceName = 'product' | 'partner' | 'company'

export interface Resource {
  readonly name: ResourceName
  readonly path: string
  readonly fields: readonly Field[]
}

const field = (name: string, type: FieldType, nullable = false): Field => ({ name, type, nullable })
const text = (name: string, max: number, nullable = false): Field => ({ name, type: 'text', nullable, max })

export const resources: Record<ResourceName, Resource> = {
  product: {
    name: 'product',
    path: '/api/v1/inventory/product',
    fields: [
      field('id', 'integer'),
      text('name', 512),
      text('default_code', 128, true),
      field('list_price', 'decimal'),
      field('qty_available', 'decimal'),
      field('active', 'boolean'),
      field('categ_id', 'integer', true),
      field('product_tmpl_id', 'integer', true),
      field('is_rsd_product', 'boolean', true),
      field('create_date', 'timestamp'),
      field('write_date', 'timestamp'),
    ],
  },
  partner: {
    name: 'partner',
    path: '/api/v1/resources/partner',
    fields: [
      field('id', 'integer'),
      text('name', 512),
      field('is_company', 'boolean'),
      field('is_patient', 'boolean'),
      field('is_customer', 'boolean'),
      field('is_vendor', 'boolean'),
      field('is_employee', 'boolean'),
      text('email', 320, true),
      text('phone', 64, true),
      field('active', 'boolean'),
      field('create_date', 'timestamp'),
      field('write_date', 'timestamp'),
    ],
  },
  company: {
    name: 'company',
    path: '/api/v1/resources/company',
    fields: [
      field('id', 'integer'),
      text('name', 512),
      text('company_code', 128, true),
      text('branch_user', 128),
      field('create_date', 'timestamp'),
      field('write_date', 'timestamp'),
    ],
  },
}

export const resourceNames: readonly ResourceName[] = ['product', 'partner', 'company']

/** A record as plain values: numbers as their decimal text, timestamps as ISO 8601 with milliseconds. */
export type PlainRecord = Readonly<Record<string, string | boolean | null>>
