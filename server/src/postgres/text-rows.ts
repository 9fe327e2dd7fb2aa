import pg from 'pg'
import type { Statement } from '../sql.ts'
import { beginOn, localSettingsOf } from './connections.ts'
import { prepared } from './statement-cache.ts'

/** A row as PostgreSQL sends it: every column as text, or null. */
export type TextRow<Row> = { readonly [Column in keyof Row]: string | null }

/**
 * A query whose rows stay the text they came as. `pg` looks up a converter for every column of every answer; what
 * requests read is text already, or a number or two that the reader converts. Saves a tenth of a cold request.
 */
class TextRows extends pg.Query {
  name: string | undefined
  readonly #rows: Record<string, string | null>[] = []
  #columns: readonly { readonly name: string }[] = []

  constructor(
    { text, values }: Statement,
    name: string | undefined,
    done: (error: Error | null | undefined) => void,
  ) {
    // The text by itself, not a configuration: that would be copied, property by property.
    super(text, [...values], done)
    this.name = name
  }

  get read(): readonly unknown[] {
    return this.#rows
  }

  handleRowDescription({ fields }: { fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, string | null> = {}
    for (const [i, { name }] of this.#columns.entries()) row[name] = fields[i] ?? null
    this.#rows.push(row)
  }

  handleCommandComplete(): void {}
}

/** Every request comes through here: no promise around that of the statement. */
export function readText<Row extends TextRow<Row>>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<Row[]> {
  if (localSettingsOf(client) === undefined) return readOne<Row>(client, statement)
  return readInTransaction<Row>(client, statement)
}

/**
 * The statement with the settings that its backend lacks. All three are on their way before the first is answered, where
 * the connection is pipelined.
 */
async function readInTransaction<Row extends TextRow<Row>>(
  client: pg.ClientBase,
  statement: Statement,
): Promise<Row[]> {
  // Pipelined connections have it among their settings.
  const generic = statement.execution === 'generic' ? '; set local plan_cache_mode = force_generic_plan' : ''
  const [begun, read, ended] = await Promise.allSettled([
    client.query(`${beginOn(client)}${generic}`),
    readOne<Row>(client, statement),
    client.query('commit'),
  ])
  // The first that failed is the reason; PostgreSQL refuses what follows in the same transaction.
  if (begun.status === 'rejected') throw begun.reason
  if (read.status === 'rejected') throw read.reason
  if (ended.status === 'rejected') throw ended.reason
  return read.value
}

function readOne<Row extends TextRow<Row>>(client: pg.ClientBase, statement: Statement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const query: TextRows = new TextRows(statement, prepared.nameFor(client, statement), (error) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- which columns there are, the statement says
      if (error == null) resolve(query.read as Row[])
      else reject(error)
    })
    client.query(query)
  })
}
