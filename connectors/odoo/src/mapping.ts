import {
  type Declaration,
  type Field,
  type Kind,
  type ResourceName,
  textOf,
  type Value,
} from '@quartermaster/sync'
import type { ResourceConfig } from './config.ts'
import { type FieldSpec, keyField, kinds, models } from './default-mapping.ts'

/** A field as `fields_get` describes it. */
export interface OdooField {
  readonly type: string
  readonly string: string
  readonly store?: boolean
  readonly readonly?: boolean
  readonly company_dependent?: boolean
}

export type OdooFields = Readonly<Record<string, OdooField>>
export type OdooRow = { readonly id: number } & Readonly<Record<string, unknown>>

export interface MappedField extends Field {
  readonly spec: FieldSpec
  readonly odoo: OdooField
  readonly warning: string | undefined
}

export interface Mapping {
  readonly resource: ResourceName
  readonly model: string
  readonly domain: readonly unknown[]
  readonly fields: readonly MappedField[]
  /** The fields that each read names. */
  readonly read: readonly string[]
  readonly leftOut: readonly string[]
  readonly faults: readonly string[]
}

/** Which types of Odoo a type here can be made of. The first type of a row is that of a declared field without a type. */
const accepts: Readonly<Record<Kind, readonly string[]>> = {
  text: ['char', 'text', 'selection', 'html', 'integer'],
  integer: ['integer', 'many2one'],
  decimal: ['float', 'monetary', 'integer'],
  boolean: ['boolean', 'integer', 'float'],
  timestamp: ['datetime', 'date'],
}

const kindOfOdoo: Readonly<Record<string, Kind>> = {
  char: 'text',
  text: 'text',
  selection: 'text',
  html: 'text',
  integer: 'integer',
  many2one: 'integer',
  float: 'decimal',
  monetary: 'decimal',
  boolean: 'boolean',
  datetime: 'timestamp',
  date: 'timestamp',
}

/** Values that Odoo computes, and that a touch source shows (`touch.ts`). */
export const stockFields: readonly string[] = ['qty_available', 'free_qty']
export const priceFields: readonly string[] = ['lst_price']

/** Checks the fields against those of Odoo. `inherited`: of the template, whose changes move the dates of its products. */
export function mappingOf(
  resource: ResourceName,
  { domain, fields }: ResourceConfig,
  found: OdooFields,
  inherited: OdooFields = {},
): Mapping {
  const [mapped, leftOut, faults]: [MappedField[], string[], string[]] = [[], [], []]
  const model = models[resource]
  for (const [name, spec] of Object.entries(fields)) {
    const odoo = found[spec.field]
    if (odoo === undefined || (spec.else !== undefined && found[spec.else] === undefined)) {
      if (spec.isOptional === true) leftOut.push(`${name}: ${model} has no ${spec.field}`)
      else faults.push(`${name}: ${model} has no ${odoo === undefined ? spec.field : spec.else}.`)
      continue
    }
    const kind = kinds[resource][name] ?? spec.type ?? kindOfOdoo[odoo.type]
    if (kind === undefined || !accepts[kind].includes(odoo.type)) {
      faults.push(`${name}: ${spec.field} is a ${odoo.type}, which cannot become ${kind ?? 'a field here'}.`)
      continue
    }
    const isStored = odoo.store === true || inherited[spec.field]?.store === true
    mapped.push({ name, kind, spec, odoo, warning: warningOf(spec.field, odoo, isStored) })
  }
  const read = mapped.flatMap(({ spec }) => [spec.field, ...(spec.else === undefined ? [] : [spec.else])])
  const dates = ['create_date', 'write_date', ...(resource === 'partner' ? ['create_uid'] : [])]
  return { resource, model, domain, fields: mapped, read: [...new Set([...read, ...dates])], leftOut, faults }
}

function warningOf(name: string, odoo: OdooField, isStored: boolean): string | undefined {
  if (odoo.company_dependent === true) return 'the value in the first of the companies'
  if (stockFields.includes(name) || priceFields.includes(name) || name === 'id') return undefined
  return isStored ? undefined : 'computed: a change may be seen only by the rolling sweep'
}

/** The fields that the account must have declared. */
export function declarationsOf({ resource, fields }: Mapping): readonly Declaration[] {
  const label = 'Odoo id'
  const key: Declaration = { resource, name: keyField, kind: 'integer', unique: true, label }
  const own = fields.filter(({ name }) => name.startsWith('x_') && name !== keyField)
  return [
    key,
    ...own.map(
      ({ name, kind, odoo }): Declaration => ({ resource, name, kind, unique: false, label: odoo.string }),
    ),
  ]
}

export function valuesOf({ fields }: Mapping, row: OdooRow): Record<string, Value> {
  return Object.fromEntries(
    fields.map(({ name, kind, spec }) => {
      const value = valueHere(kind, row[spec.field], spec.digits)
      return [name, value === null && spec.else !== undefined ? valueHere(kind, row[spec.else]) : value]
    }),
  )
}

/** In Odoo, false is the empty value of every type but boolean. */
export function valueHere(kind: Kind, value: unknown, digits = 0): Value {
  if (kind === 'boolean') return typeof value === 'number' ? value > 0 : value === true
  if (value === false || value === null || value === undefined || value === '') return null
  if (kind === 'text') return textOf(value).padStart(digits, '0')
  if (kind === 'timestamp') return utc(textOf(value))
  return Number(Array.isArray(value) ? value[0] : value)
}

/** Odoo returns UTC without saying so: 2026-11-14 09:30:00, or 2026-11-14. */
export function utc(text: string): string {
  return text.length === 10 ? `${text}T00:00:00Z` : `${text.replace(' ', 'T')}Z`
}
