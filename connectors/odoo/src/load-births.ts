import {
  type BirthTarget,
  type Given,
  type RecordHere,
  SourceUnavailable,
  Stop,
  textOf,
} from '@quartermaster/sync'
import { keyField } from './default-mapping.ts'
import { externalIdOf } from './external-id.ts'
import type { MappedField, Mapping } from './mapping.ts'
import { type OdooApi, OdooError } from './odoo-api.ts'
import type { OdooContext } from './odoo-source.ts'

interface Loaded {
  readonly ids: readonly number[] | false
  readonly messages: readonly { readonly type: string; readonly message: string; readonly record?: number }[]
}

/** Types whose text `load` reads as it is, or as 0 and 1. */
const loadable = ['char', 'text', 'selection', 'boolean', 'integer', 'float', 'monetary']

/** The fields of a partner that Odoo accepts from us. */
export function givenFields({ fields }: Mapping): readonly MappedField[] {
  return fields.filter(
    ({ name, odoo }) => odoo.readonly !== true && loadable.includes(odoo.type) && name !== keyField,
  )
}

/**
 * Creates partners by `load`, which finds a record by its external id and creates it only if there is none: a repeated call, and two at once,
 * create one partner. `noupdate` with `mode: update` leaves a partner as it is that users of Odoo have changed since.
 */
export class LoadBirths implements BirthTarget {
  readonly batch = 50
  readonly #api: OdooApi
  readonly #context: OdooContext
  readonly #fields: readonly MappedField[]

  constructor(api: OdooApi, mapping: Mapping, context: OdooContext) {
    this.#api = api
    this.#context = context
    this.#fields = givenFields(mapping)
  }

  async give(records: readonly RecordHere[]): Promise<readonly Given[]> {
    if (records.length === 0) return []
    const { ids, messages } = await this.#load(records)
    if (ids !== false && ids.length === records.length)
      return records.map(({ id }, i) => ({ id, key: ids[i] ?? 0 }))
    const fault = messages.find(({ type }) => type === 'error') ?? { message: 'Odoo returned no ids.' }
    if (/could not serialize|deadlock detected|could not obtain lock/.test(fault.message))
      throw new SourceUnavailable(`Odoo could not create partners now: ${fault.message.trim()}`)
    if (records.length === 1 && records[0] !== undefined)
      return [{ id: records[0].id, fault: fault.message.trim() }]
    // Of a batch with a fault, nothing is kept. The halves keep the order.
    const half = Math.ceil(records.length / 2)
    return [...(await this.give(records.slice(0, half))), ...(await this.give(records.slice(half)))]
  }

  async #load(records: readonly RecordHere[]): Promise<Loaded> {
    const fields = ['id', ...this.#fields.map(({ spec }) => spec.field)]
    const data = records.map((record) => [
      externalIdOf(record.id, record['create_date']),
      ...this.#fields.map(({ name, odoo }) => loadText(odoo.type, record[name])),
    ])
    const { uid: _, ...context } = this.#context
    try {
      return await this.#api.call('res.partner', 'load', {
        fields,
        data,
        context: { ...context, mode: 'update', noupdate: true },
      })
    } catch (error) {
      if (!(error instanceof OdooError && error.isAccess)) throw error
      throw new Stop(
        'rights_shrank',
        `Odoo does not let the connector's user create partners: ${error.message}`,
        'Give the user the right to create res.partner, or set back.partner to false.',
      )
    }
  }
}

function loadText(type: string, value: unknown): string {
  if (value === null || value === undefined) return type === 'boolean' ? '0' : ''
  if (typeof value === 'boolean') return value ? '1' : '0'
  return textOf(value)
}
