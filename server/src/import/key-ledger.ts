import type { Field } from '../catalog/field.ts'
import { keyFieldsOf } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import { type HeldKey, type KeyValue, nameOfKey } from '../writes/record-keys.ts'
import { nullCell, textOfCopy } from './cell.ts'

type Cells = readonly (string | undefined)[]

/** Which record has which value of a unique field, while the rows of a batch take effect one after the other. */
export class KeyLedger {
  readonly #fields: readonly { readonly field: KeyValue['field']; readonly index: number }[]
  readonly #holders: Map<string, string>

  /** `parsed`: the resource in whose order the cells are. `holders`: those of all values in the rows, by `nameOfKey`. */
  constructor(current: Resource, parsed: Resource, holders: Map<string, string> = new Map()) {
    this.#fields = keyFieldsOf(current).flatMap((field) => {
      const index = parsed.fields.findIndex(({ name }) => name === field.name)
      return index < 0 ? [] : [{ field, index }]
    })
    this.#holders = holders
  }

  /** The unique values in the cells of a row. */
  valuesIn(cells: Cells | undefined): KeyValue[] {
    if (cells === undefined) return []
    return this.#fields.flatMap(({ field, index }) => {
      const value = textOfCell(field, cells[index])
      return value === undefined ? [] : [{ field, value }]
    })
  }

  holderOf(key: KeyValue): string | undefined {
    return this.#holders.get(nameOfKey(key))
  }

  /** The first of the values that another record has. */
  takenFrom(cells: Cells, id: string | undefined): HeldKey | undefined {
    for (const key of this.valuesIn(cells)) {
      const holder = this.holderOf(key)
      if (holder !== undefined && holder !== id) return { ...key, id: holder }
    }
    return undefined
  }

  /** A row has changed the cells of a record; undefined: there is none. */
  move(id: string, before: Cells | undefined, after: Cells | undefined): void {
    for (const key of this.valuesIn(before))
      if (this.holderOf(key) === id) this.#holders.delete(nameOfKey(key))
    for (const key of this.valuesIn(after)) this.#holders.set(nameOfKey(key), id)
  }

  /** The values that a record with these cells has. */
  heldBy(id: string, cells: Cells | undefined): HeldKey[] {
    return this.valuesIn(cells).map((key) => ({ ...key, id }))
  }
}

/** The value of a cell, as it is in the table of keys. Undefined if it is null, or if the row does not contain the field. */
export function textOfCell(field: Field, cell: string | undefined): string | undefined {
  if (cell === undefined || cell === nullCell) return undefined
  if (field.customKey === undefined) return textOfCopy(cell)
  return field.type === 'text' ? String(JSON.parse(textOfCopy(cell))) : cell
}
