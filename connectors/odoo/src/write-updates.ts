import {
  type Declaration,
  type Field,
  type Key,
  Stop,
  type UpdateTarget,
  type Value,
} from '@quartermaster/sync'
import type { Config } from './config.ts'
import { declarationsOf, type MappedField, type Mapping, type OdooRow, valueHere } from './mapping.ts'
import { type OdooApi, OdooError } from './odoo-api.ts'
import type { OdooContext } from './odoo-source.ts'

/** The field here with prints of the values on which both sides agree. */
export const agreedField = 'x_odoo_agreed'

/** Values that one side has and the other can have in the same way. */
const writable: Readonly<Record<string, readonly string[]>> = {
  text: ['char', 'text', 'selection'],
  boolean: ['boolean'],
  integer: ['integer'],
  decimal: ['float', 'monetary'],
}

/** The fields whose changes go back, and what is wrong with the others. */
export function updatedFields(
  { back }: Config,
  { fields, model }: Mapping,
): { readonly fields: readonly MappedField[]; readonly faults: readonly string[] } {
  const [found, faults]: [MappedField[], string[]] = [[], []]
  for (const name of back?.update ?? []) {
    const field = fields.find((one) => one.name === name)
    if (field === undefined) faults.push(`back.partner.update: ${name} is not mapped.`)
    else if (field.spec.else !== undefined || field.spec.digits !== undefined)
      faults.push(`back.partner.update: ${name} is made of more than one value of ${model}.`)
    else if (field.odoo.readonly === true || writable[field.kind]?.includes(field.odoo.type) !== true)
      faults.push(
        `back.partner.update: ${field.spec.field}, ${field.odoo.type} of ${model}, cannot be written.`,
      )
    else found.push(field)
  }
  return { fields: found, faults }
}

/** Every field that the account must have declared. */
export function declarationsFor({ back }: Config, mappings: readonly Mapping[]): readonly Declaration[] {
  const declarations = mappings.flatMap(declarationsOf)
  if ((back?.update.length ?? 0) === 0) return declarations
  const label = 'Agreed with Odoo'
  return [...declarations, { resource: 'partner', name: agreedField, kind: 'text', unique: false, label }]
}

/**
 * Writes changed fields to partners. Odoo has no conditional write: the values are read immediately before, and what somebody writes within
 * these milliseconds is overwritten.
 */
export class WriteUpdates implements UpdateTarget {
  readonly #api: OdooApi
  readonly #context: OdooContext
  readonly #mapping: Mapping

  constructor(api: OdooApi, mapping: Mapping, context: OdooContext) {
    this.#api = api
    this.#mapping = mapping
    this.#context = context
  }

  async update(
    key: Key,
    values: Readonly<Record<string, Value>>,
    expected: Readonly<Record<string, Value>>,
  ): Promise<'written' | 'moved' | { readonly fault: string }> {
    const { model } = this.#mapping
    const { uid: _, ...context } = this.#context
    const fields = this.#mapping.fields.filter(({ name }) => name in values)
    const [row]: OdooRow[] = await this.#api.call(model, 'search_read', {
      domain: [['id', '=', key]],
      fields: fields.map(({ spec }) => spec.field),
      load: null,
      context,
    })
    const isAsExpected = ({ name, kind, spec }: MappedField) =>
      valueHere(kind, row?.[spec.field]) === expected[name]
    if (row === undefined || !fields.every(isAsExpected)) return 'moved'
    const vals = Object.fromEntries(
      fields.map((field) => [field.spec.field, valueThere(field, values[field.name] ?? null)]),
    )
    try {
      // Not sent again by itself: after a lost response, the next poll shows whether Odoo has the values.
      await this.#api.callOnce(model, 'write', { ids: [key], vals, context })
      return 'written'
    } catch (error) {
      if (!(error instanceof OdooError)) throw error
      if (!error.isAccess) return { fault: error.message }
      throw new Stop(
        'rights_shrank',
        `Odoo does not let the connector's user change partners: ${error.message}`,
        'Give the user the right to write res.partner, or empty back.partner.update.',
      )
    }
  }
}

/** In Odoo, false is the empty value of every type. */
function valueThere({ kind }: Field, value: Value): unknown {
  if (value === null) return false
  return kind === 'decimal' ? Number(value) : value
}
