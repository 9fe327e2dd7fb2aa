import type { Field } from '../catalog/field.ts'
import { excerpt } from '../errors/faults.ts'
import { positionOfEtag } from '../tally-state.ts'
import { isJsonObject, JsonNumber } from '../writes/exact-json.ts'
import { type Cell, cellOfCsv, cellOfJson } from './cell.ts'
import { idBesideKey, ifMatchMember, unknownField } from './columns.ts'
import { textOfCell } from './key-ledger.ts'
import { addressField, addressIndex, type RowResource } from './row-resource.ts'

/** A fault in one line of the file. */
export interface RowFault {
  readonly line: number
  /** Empty if the fault is not in a single field. */
  readonly field: string
  readonly reason: string
  readonly value: string
  /** Of the record, if the line has a valid one. */
  readonly id?: string | undefined
  /** If rows name their records by a unique field: its value. */
  readonly key?: string | undefined
  /** Why a valid row is rejected, for programs. */
  readonly code?: RowCode | undefined
}

/**
 * `changed`: the record does not have the ETag of `$if_match`. `record_unknown`: there is no record. `record_exists`: mode=insert changes
 * none. `key_taken`: another record has a unique value of the row.
 */
export type RowCode = (typeof rowCodes)[number]
export const rowCodes = ['changed', 'record_unknown', 'record_exists', 'key_taken'] as const

/** A valid line. Its cells are in the order of the fields in the catalog. */
export interface Row {
  readonly line: number
  /** In COPY's text format; undefined if the line does not contain the field. */
  readonly cells: (string | undefined)[]
  /** The record that the row names is to be deleted. */
  readonly isDelete?: true
  /** The ETag that the record must have. */
  readonly ifMatch?: string
}

/** The rows of one buffer of input. Not one row at a time, because awaiting each row would be slow. */
export interface RowChunk {
  readonly rows: readonly Row[]
  /** The number of rejected lines. A line can have several faults. */
  readonly rejected: number
  readonly faults: readonly RowFault[]
}

/** The text of a CSV cell, or `quotedEmpty` for `""`. */
export type CsvCell = string | typeof quotedEmpty
export const quotedEmpty = Object.freeze({ quoted: true })

export class ChunkBuilder implements RowChunk {
  readonly rows: Row[] = []
  readonly faults: RowFault[] = []
  rejected = 0
  readonly #resource: RowResource
  /** The field that names the record of a row, and its position. */
  readonly #address: Field
  readonly #addressIndex: number
  readonly #emptyCells: readonly (string | undefined)[]

  constructor(resource: RowResource) {
    this.#resource = resource
    this.#address = addressField(resource)
    this.#addressIndex = addressIndex(resource)
    this.#emptyCells = resource.fields.map(() => undefined)
  }

  addCsv(line: number, columns: readonly number[], record: readonly CsvCell[]): void {
    if (record.length !== columns.length) {
      const reason = `has ${record.length} cells; the header has ${columns.length}`
      this.reject([{ line, field: '', reason, value: record.map((cell) => textOf(cell)).join(',') }])
      return
    }
    const row: Row = { line, cells: this.#emptyCells.slice() }
    const faults: RowFault[] = []
    columns.forEach((fieldIndex, i) => {
      const field = this.#resource.fields[fieldIndex]
      const raw = record[i]
      if (field === undefined || raw === undefined) return
      const quoted = typeof raw !== 'string'
      const text = quoted ? '' : raw
      this.#setCell(row, faults, fieldIndex, field, cellOfCsv(this.#required(field), text, quoted), text)
    })
    this.#add(row, faults)
  }

  /** `{"$delete": 5}` deletes the record 5; by a unique field, `{"$delete": {"x_sku": "4711"}}`. */
  addDelete(line: number, members: object): void {
    const named: unknown = Reflect.get(members, '$delete')
    const cell = this.#deletedCell(named)
    const others = Object.keys(members).filter((name) => name !== '$delete' && name !== ifMatchMember)
    const id = this.#resource.rowKey === undefined ? cell : undefined
    const condition = conditionOf(members, id)
    const address = typeof cell === 'string' ? this.#addressOf(cell) : {}
    if (typeof cell !== 'string') {
      this.reject([{ line, field: '$delete', reason: cell.reason, value: printed(named) }])
    } else if (others.length > 0) {
      const reason = `has other members than $delete: ${others.slice(0, 5).map(excerpt).join(', ')}`
      this.reject([{ line, field: '', reason, value: JSON.stringify(members), ...address }])
    } else if (condition.fault !== undefined) {
      this.reject([{ line, ...condition.fault, ...address }])
    } else {
      const cells = this.#emptyCells.slice()
      cells[this.#addressIndex] = cell
      this.rows.push({ line, cells, isDelete: true, ...condition })
    }
  }

  #deletedCell(named: unknown): Cell {
    const { rowKey } = this.#resource
    if (rowKey === undefined) return cellOfJson(this.#address, named)
    const isKey = isJsonObject(named) && Object.keys(named).join() === rowKey.name
    if (!isKey) return { reason: `is not an object with ${rowKey.name}, such as {"${rowKey.name}":"4711"}` }
    return cellOfJson(this.#required(rowKey), Reflect.get(named, rowKey.name))
  }

  addObject(line: number, members: object): void {
    const row: Row = { line, cells: this.#emptyCells.slice() }
    const faults: RowFault[] = []
    let known = Object.hasOwn(members, ifMatchMember) ? 1 : 0
    this.#resource.fields.forEach((field, fieldIndex) => {
      if (Object.hasOwn(members, field.name)) {
        known += 1
        const value: unknown = Reflect.get(members, field.name)
        if (field.name === 'id' && field !== this.#address)
          faults.push({ line, field: 'id', reason: idBesideKey(this.#address.name), value: printed(value) })
        else this.#setCell(row, faults, fieldIndex, field, cellOfJson(this.#required(field), value), value)
      } else if (field === this.#address) {
        faults.push({ line, field: field.name, reason: 'is required', value: '' })
      }
    })
    if (known < Object.keys(members).length) faults.push(...this.#unknownMembers(line, members))
    const condition = conditionOf(members, this.#resource.rowKey === undefined ? row.cells[0] : undefined)
    if (condition.fault !== undefined) faults.push({ line, ...condition.fault })
    this.#add(condition.ifMatch === undefined ? row : { ...row, ...condition }, faults)
  }

  /** The field that names the record is never null. */
  #required(field: Field): Field {
    return field.name === this.#address.name && field.nullable ? { ...field, nullable: false } : field
  }

  /** What names the record, for results. */
  #addressOf(cell: string | undefined): Pick<RowFault, 'id' | 'key'> {
    const { rowKey } = this.#resource
    return rowKey === undefined ? { id: cell } : { key: textOfCell(rowKey, cell) }
  }

  /** Rejects a line whose object was not parsed. `names`: the first names of its members. */
  rejectNames(line: number, names: readonly string[], fault: Omit<RowFault, 'line'>): void {
    const known = new Set(['$delete', ifMatchMember, ...this.#resource.fields.map(({ name }) => name)])
    const unknown = [...new Set(names)].filter((name) => !known.has(name))
    const faults = unknown.map((name) => {
      const value = name === fault.field ? fault.value : ''
      return { line, field: name, reason: unknownField(this.#resource, name), value }
    })
    this.reject(unknown.includes(fault.field) ? faults : [...faults, { line, ...fault }])
  }

  reject(faults: readonly RowFault[]): void {
    this.rejected += 1
    this.faults.push(...faults)
  }

  #setCell(row: Row, faults: RowFault[], fieldIndex: number, field: Field, cell: Cell, value: unknown): void {
    if (typeof cell === 'string') row.cells[fieldIndex] = cell
    else faults.push({ line: row.line, field: field.name, reason: cell.reason, value: printed(value) })
  }

  #add(row: Row, faults: readonly RowFault[]): void {
    if (faults.length === 0) this.rows.push(row)
    else this.reject(faults.map((fault) => ({ ...fault, ...this.#addressOf(row.cells[this.#addressIndex]) })))
  }

  #unknownMembers(line: number, members: object): RowFault[] {
    const known = new Set(this.#resource.fields.map(({ name }) => name))
    return Object.entries(members)
      .filter(([name]) => !known.has(name) && name !== ifMatchMember)
      .map(([name, value]) => ({
        line,
        field: name,
        reason: unknownField(this.#resource, name),
        value: printed(value),
      }))
  }
}

/** `$if_match`, if the object has it. `id`: the cell of the record's id, or why it was rejected; undefined if the row has none. */
function conditionOf(
  members: object,
  id: unknown,
): { readonly ifMatch?: string; readonly fault?: Omit<RowFault, 'line'> } {
  if (!Object.hasOwn(members, ifMatchMember)) return {}
  const etag: unknown = Reflect.get(members, ifMatchMember)
  const fault = (reason: string) => ({ fault: { field: ifMatchMember, reason, value: printed(etag) } })
  if (typeof etag !== 'string') return fault('is not the ETag of a record')
  if (typeof id !== 'string' || positionOfEtag(etag, id) !== undefined) return { ifMatch: etag }
  return fault('is not an ETag of the record with this id')
}

function textOf(cell: CsvCell): string {
  return typeof cell === 'string' ? cell : ''
}

function printed(value: unknown): string {
  if (value instanceof JsonNumber) return value.source
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
