import pg from 'pg'
import type { Statement } from '../sql.ts'
import { type ArrayElement, arrayLiteral } from './array-literal.ts'

/** A row as PostgreSQL sends it: every column as text, or null. */
export type TextRow<Row> = { readonly [Column in keyof Row]: Field }

type Field = string | Buffer | null

/** A row of a `StateStatement`. */
export type StateRow<Row> = TextRow<Row> & { readonly epoch: string }

/** A row of any other statement. A row that names its server cannot be read by one. */
export type PlainRow<Row> = TextRow<Row> & { readonly epoch?: never }

/** The column that may be a Buffer: the records of a list, on a connection that keeps long rows. */
const bytesColumn = 'records'

/**
 * A query that returns columns as the text that PostgreSQL sent. `pg` looks up a type parser for every column of every
 * result; requests read text, and one or two numbers that the caller converts. Saves a tenth of the time of an uncached
 * request.
 */
export class TextQuery extends pg.Query {
  name: string | undefined
  readonly #rows: Record<string, Field>[] = []
  readonly #keepsBytes: boolean
  #columns: readonly { readonly name: string }[] = []

  constructor(
    { text, values, operation }: Statement,
    name: string | undefined,
    done: (error: Error | null | undefined) => void,
  ) {
    // Text and values, not a config object: pg would copy that property by property.
    super(text, values.map(parameterOf), done)
    this.name = name
    this.#keepsBytes = operation === 'list'
  }

  /** Not named `rows`: the constructor of pg's Query assigns to that property. */
  get textRows(): readonly unknown[] {
    return this.#rows
  }

  handleRowDescription({ fields }: { fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields
  }

  handleDataRow({ fields }: { fields: readonly Field[] }): void {
    const row: Record<string, Field> = {}
    // A loop over `entries()` would allocate an array for each column.
    for (let i = 0; i < this.#columns.length; i++) {
      const column = this.#columns[i]
      if (column === undefined) continue
      const field = fields[i] ?? null
      const isKept = this.#keepsBytes && column.name === bytesColumn
      row[column.name] = field instanceof Buffer && !isKept ? field.toString() : field
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {}
}

function parameterOf(value: unknown): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- statements have arrays of no other elements
  return Array.isArray(value) ? arrayLiteral(value as ArrayElement[]) : value
}
