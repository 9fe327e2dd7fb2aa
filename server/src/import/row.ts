import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { type Cell, cellOfCsv, cellOfJson, JsonNumber } from './cell.ts'
import { unknownField } from './columns.ts'

/** One thing wrong with one line. */
export interface RowFault {
  readonly line: number
  /** Empty where the line as a whole is meant. */
  readonly field: string
  readonly reason: string
  readonly value: string
}

/** A line that was accepted: its cells by the place of their field in the catalog. */
export interface Row {
  readonly line: number
  /** In COPY's text form; nothing where the line did not give the field. */
  readonly cells: (string | undefined)[]
}

/** What a reader hands on at a time: a piece of the file, not a line, so that waiting costs little. */
export interface RowChunk {
  readonly rows: readonly Row[]
  /** How many lines were refused, for `faults` can hold several of one line. */
  readonly rejected: number
  readonly faults: readonly RowFault[]
}

/** The text of a CSV cell; an object only where it is empty and was quoted. */
export type CsvCell = string | typeof quotedEmpty
export const quotedEmpty = Object.freeze({ quoted: true })

/** Gathers what becomes of the lines of one piece of a file. */
export class ChunkBuilder implements RowChunk {
  readonly rows: Row[] = []
  readonly faults: RowFault[] = []
  rejected = 0
  readonly #resource: Resource
  readonly #nothingGiven: readonly (string | undefined)[]

  constructor(resource: Resource) {
    this.#resource = resource
    this.#nothingGiven = resource.fields.map(() => undefined)
  }

  addCsv(line: number, columns: readonly number[], record: readonly CsvCell[]): void {
    if (record.length !== columns.length) {
      const reason = `has ${record.length} cells where the header has ${columns.length}`
      this.refuse([{ line, field: '', reason, value: record.map((cell) => textOf(cell)).join(',') }])
      return
    }
    const row: Row = { line, cells: this.#nothingGiven.slice() }
    const faults: RowFault[] = []
    columns.forEach((place, i) => {
      const field = this.#resource.fields[place]
      const raw = record[i]
      if (field === undefined || raw === undefined) return
      const quoted = typeof raw !== 'string'
      const text = quoted ? '' : raw
      this.#place(row, faults, place, field, cellOfCsv(field, text, quoted), text)
    })
    this.#add(row, faults)
  }

  addObject(line: number, members: object): void {
    const row: Row = { line, cells: this.#nothingGiven.slice() }
    const faults: RowFault[] = []
    let known = 0
    this.#resource.fields.forEach((field, place) => {
      if (Object.hasOwn(members, field.name)) {
        known += 1
        const value: unknown = Reflect.get(members, field.name)
        this.#place(row, faults, place, field, cellOfJson(field, value), value)
      } else if (field.name === 'id') {
        faults.push({ line, field: field.name, reason: 'is required', value: '' })
      }
    })
    if (known < Object.keys(members).length) faults.push(...this.#unknownMembers(line, members))
    this.#add(row, faults)
  }

  refuse(faults: readonly RowFault[]): void {
    this.rejected += 1
    this.faults.push(...faults)
  }

  #place(row: Row, faults: RowFault[], place: number, field: Field, cell: Cell, value: unknown): void {
    if (typeof cell === 'string') row.cells[place] = cell
    else faults.push({ line: row.line, field: field.name, reason: cell.reason, value: printed(value) })
  }

  #add(row: Row, faults: readonly RowFault[]): void {
    if (faults.length === 0) this.rows.push(row)
    else this.refuse(faults)
  }

  #unknownMembers(line: number, members: object): RowFault[] {
    const known = new Set(this.#resource.fields.map(({ name }) => name))
    return Object.entries(members)
      .filter(([name]) => !known.has(name))
      .map(([name, value]) => ({
        line,
        field: name,
        reason: unknownField(this.#resource, name),
        value: printed(value),
      }))
  }
}

function textOf(cell: CsvCell): string {
  return typeof cell === 'string' ? cell : ''
}

function printed(value: unknown): string {
  if (value instanceof JsonNumber) return value.source
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
