import { limits } from '../limits/limits.ts'
import { authorFields } from './authors.ts'
import type { Collection } from './collection.ts'
import { etagField, type RecordField } from './field.ts'

export type ResourceName = 'product' | 'partner' | 'company'

export interface Resource extends Collection {
  /** Also the name of its table, the `resource` of its tally and the first part of its scopes. */
  readonly name: ResourceName
  readonly fields: readonly RecordField[]
  /** Identifies the account and the version of its own fields, which `fields` then has, too. Undefined without any. */
  readonly schema?: string
  /** Differs between resources whose fields may differ, for the keys of caches. */
  readonly schemaName: string
}

const id: RecordField = {
  name: 'id',
  type: 'integer',
  nullable: false,
  description: 'Identifies the record in its account and resource. Starts at 1 and is never reused.',
  example: 42,
  absent: 'required',
}

const name: RecordField = {
  name: 'name',
  type: 'text',
  nullable: false,
  description: 'The name.',
  example: 'Hex bolt M8 × 40, zinc',
  charactersMax: limits.partnerNameCharactersMax,
  absent: 'required',
}

const createDate: RecordField = {
  name: 'create_date',
  type: 'timestamp',
  nullable: false,
  description: 'When the record was created.',
  example: '2026-03-02T08:15:00.000Z',
  absent: 'now',
}

const writeDate: RecordField = {
  name: 'write_date',
  type: 'timestamp',
  nullable: false,
  description: 'When the record was last changed.',
  example: '2026-11-14T09:30:00.000Z',
  absent: 'now',
}

const flag = (flagName: string, description: string, absent: boolean): RecordField => ({
  name: flagName,
  type: 'boolean',
  nullable: false,
  description,
  example: absent,
  absent,
})

const product: Resource = {
  name: 'product',
  schemaName: 'product',
  noun: 'product',
  plural: 'products',
  path: 'inventory/product',
  description: 'A product of the inventory.',
  onRequest: authorFields,
  computed: [etagField],
  fields: [
    id,
    name,
    {
      name: 'default_code',
      type: 'text',
      nullable: true,
      description: 'The product code.',
      example: 'BLT-M8-040',
      charactersMax: 128,
      absent: null,
      canBeUnique: true,
    },
    {
      name: 'list_price',
      type: 'decimal',
      nullable: false,
      description: 'The price, exact.',
      example: 12.5,
      absent: 0,
    },
    {
      name: 'qty_available',
      type: 'decimal',
      nullable: false,
      description: 'The quantity on hand, exact.',
      example: 310,
      absent: 0,
    },
    flag('active', 'Whether the product is in use. Lists include inactive products.', true),
    {
      name: 'categ_id',
      type: 'integer',
      nullable: true,
      description: 'The category.',
      example: 7,
      absent: null,
    },
    {
      name: 'product_tmpl_id',
      type: 'integer',
      nullable: true,
      description: 'The template.',
      example: 1042,
      absent: null,
    },
    {
      name: 'is_rsd_product',
      type: 'boolean',
      nullable: true,
      isMostlyNull: true,
      description: 'Whether it is an RSD product; null if unknown.',
      example: false,
      absent: null,
    },
    createDate,
    writeDate,
  ],
}

const partner: Resource = {
  name: 'partner',
  schemaName: 'partner',
  noun: 'partner',
  plural: 'partners',
  path: 'resources/partner',
  description: 'A customer, a vendor or an employee.',
  onRequest: authorFields,
  computed: [etagField],
  fields: [
    id,
    { ...name, example: 'Nordwind Logistics' },
    flag('is_company', 'Whether the partner is a company rather than a person.', false),
    flag('is_patient', 'Whether the partner is a patient.', false),
    flag('is_customer', 'Whether the partner buys from the account.', false),
    flag('is_vendor', 'Whether the account buys from the partner.', false),
    flag('is_employee', 'Whether the partner works for the account.', false),
    {
      name: 'email',
      type: 'text',
      nullable: true,
      description: 'The email address.',
      example: 'orders@nordwind.example',
      charactersMax: 320,
      absent: null,
      canBeUnique: true,
    },
    {
      name: 'phone',
      type: 'text',
      nullable: true,
      description: 'The phone number.',
      example: '+49 40 5550 123',
      charactersMax: 64,
      absent: null,
    },
    flag('active', 'Whether the partner is in use. Lists include inactive partners.', true),
    createDate,
    writeDate,
  ],
}

const company: Resource = {
  name: 'company',
  schemaName: 'company',
  noun: 'company',
  plural: 'companies',
  path: 'resources/company',
  description: 'A company of the account.',
  onRequest: authorFields,
  computed: [etagField],
  fields: [
    id,
    { ...name, example: 'Quayside Trading Ltd' },
    {
      name: 'company_code',
      type: 'text',
      nullable: true,
      description: 'The code of the company.',
      example: 'QST',
      charactersMax: 128,
      absent: null,
      canBeUnique: true,
    },
    {
      name: 'branch_user',
      type: 'text',
      nullable: false,
      description: 'A number as text, with leading zeros.',
      example: '00417',
      charactersMax: 128,
      absent: 'required',
    },
    createDate,
    writeDate,
  ],
}

export const resources: Record<ResourceName, Resource> = { product, partner, company }

/** What is derived from each resource once, when the process starts. */
export function perResource<Derived>(
  derive: (resource: Resource) => Derived,
): Readonly<Record<ResourceName, Derived>> {
  return { product: derive(product), partner: derive(partner), company: derive(company) }
}
