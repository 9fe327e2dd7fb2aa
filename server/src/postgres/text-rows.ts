import pg from 'pg'
import type { Statement } from '../sql.ts'
import { type ArrayElement, arrayLiteral } from './array-literal.ts'
import { beginText, localSettingsOf } from './connections.ts'
import { statementCache } from './statement-cache.ts'

/** A row as PostgreSQL sends it: every column as text, or null. */
export type TextRow<Row> = { readonly [Column in keyof Row]: Field }

type Field = string | Buffer | null

/** The column that may be a Buffer: the records of a list, on a connection that keeps long rows. */
const bytesColumn = 'records'

/**
 * A query that returns columns as the text that PostgreSQL sent. `pg` looks up a type parser for every column of every
 * result; requests read text, and one or two numbers that the caller converts. Saves a tenth of the time of an uncached
 * request.
 */
class TextQuery extends pg.Query {
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

/** Not async: every request calls this, and a second promise would cost time. */
export function readText<Row extends TextRow<Row>>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<Row[]> {
  if (localSettingsOf(client) === undefined) return readOne<Row>(client, statement)
  return readInTransaction<Row>(client, statement)
}

/**
 * Runs the statement in a transaction that begins with the connection's local settings. On a pipelined connection, all
 * three are sent before the first result arrives.
 */
async function readInTransaction<Row extends TextRow<Row>>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<Row[]> {
  // Pipelined connections have plan_cache_mode among their local settings.
  const generic = statement.execution === 'generic' ? '; set local plan_cache_mode = force_generic_plan' : ''
  const [begun, read, ended] = await Promise.allSettled([
    client.query(`${beginText(client)}${generic}`),
    readOne<Row>(client, statement),
    client.query('commit'),
  ])
  // The first error is the cause: PostgreSQL then rejects every later statement of the transaction.
  if (begun.status === 'rejected') throw begun.reason
  if (read.status === 'rejected') throw read.reason
  if (ended.status === 'rejected') throw ended.reason
  return read.value
}

function readOne<Row extends TextRow<Row>>(client: pg.ClientBase, statement: Statement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const query: TextQuery = new TextQuery(statement, statementCache.nameFor(client, statement), (error) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement determines the columns
      if (error == null) resolve(query.textRows as Row[])
      else reject(error)
    })
    client.query(query)
  })
}
