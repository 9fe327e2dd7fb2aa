import type pg from 'pg'
import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type Statement } from '../sql.ts'
import { copyIn } from './copy.ts'
import * as statements from './statements.ts'

/** The cells of a record by the place of their field in the catalog, in COPY's text form; nothing where not given. */
export type ImportRow = readonly (string | undefined)[]

export interface BatchOutcome {
  readonly inserted: number
  readonly updated: number
  /** Rows of the batch that would be new records but lack a field that those need; they were not written. */
  readonly incomplete: readonly { readonly place: number; readonly field: Field }[]
}

interface TallyRow {
  readonly version: string
  readonly last_id: string
  readonly moment: string
}

/**
 * An import under way on a connection of its own, whose temporary tables it uses. Each batch is one transaction that
 * holds the account's tally of the resource: no other writer comes in between, so what is looked up stays true.
 */
export class ImportSession {
  readonly #client: pg.ClientBase
  readonly #scope: AccountScope
  readonly #resource: Resource
  readonly #keepIds: boolean
  /** The version that the account's resource had before the first batch. */
  #versionBefore = '0'

  private constructor(client: pg.ClientBase, scope: AccountScope, resource: Resource, keepIds: boolean) {
    this.#client = client
    this.#scope = scope
    this.#resource = resource
    this.#keepIds = keepIds
  }

  /** With `keepIds`, `deleteOthers` can tell in the end which records no batch had. */
  static async open(
    client: pg.ClientBase,
    scope: AccountScope,
    resource: Resource,
    { keepIds }: { readonly keepIds: boolean },
  ): Promise<ImportSession> {
    const session = new ImportSession(client, scope, resource, keepIds)
    for (const statement of statements.temporaryTables(resource)) await session.#run(statement)
    const { rows } = await session.#run<{ version: string }>(statements.currentVersion(scope, resource))
    session.#versionBefore = rows[0]?.version ?? '0'
    return session
  }

  /** Applies rows, no two of the same id. Nothing changed means that the version stays, too. */
  async write(rows: readonly ImportRow[]): Promise<BatchOutcome> {
    const ids = rows.map((row) => row[0] ?? '')
    return await inTransaction(this.#client, async () => {
      if (this.#keepIds) await copyIn(this.#client, statements.copySeen, ids)
      const tally = await this.#lockTally()
      const known = await this.#knownOf(ids, Number(tally.last_id))
      const incomplete = rows.flatMap((row, place) => {
        const field = known.has(ids[place] ?? '') ? undefined : this.#lackedBy(row)
        return field === undefined ? [] : [{ place, field }]
      })
      const left = new Set(incomplete.map(({ place }) => place))
      const fresh = rows.filter((_, i) => !known.has(ids[i] ?? '') && !left.has(i))
      const inserted = await this.#insert(fresh, tally)
      const updated = await this.#update(
        rows.filter((_, i) => known.has(ids[i] ?? '')),
        tally,
      )
      if (inserted + updated > 0) await this.#tick(inserted, highest(fresh))
      return { inserted, updated, incomplete }
    })
  }

  /** Deletes what no batch had. A record that others wrote since the import began stays: the file could not know it. */
  async deleteOthers(onBatch: (deleted: number) => void): Promise<void> {
    await this.#run(statements.analyzeSeen)
    const before = this.#versionBefore
    const { rowCount } = await this.#run(statements.findGone(this.#scope, this.#resource, before))
    const found = rowCount ?? 0
    // A batch may have nothing left to delete because others changed or deleted its records: the next one may have.
    for (let from = 1; from <= found; from += limits.importBatchRows) {
      const to = from + limits.importBatchRows - 1
      onBatch(await this.#deleteBatch(statements.deleteGone(this.#scope, this.#resource, before, from, to)))
    }
  }

  async #deleteBatch(statement: Statement): Promise<number> {
    return await inTransaction(this.#client, async () => {
      await this.#lockTally()
      const deleted = (await this.#run(statement)).rowCount ?? 0
      if (deleted > 0) await this.#tick(-deleted, 0)
      return deleted
    })
  }

  /** So that the planner knows the table as it is now, and not from its next automatic look on. */
  async analyze(): Promise<void> {
    await this.#run(statements.analyze(this.#resource))
  }

  #lackedBy(row: ImportRow): Field | undefined {
    return this.#resource.fields.find(
      (field, place) => field.absent === 'required' && row[place] === undefined,
    )
  }

  async #lockTally(): Promise<TallyRow> {
    const { rows } = await this.#run<TallyRow>(statements.lockTally(this.#scope, this.#resource))
    const tally = rows[0]
    if (tally === undefined) throw new Error(`The account has no tally of ${this.#resource.plural}.`)
    return tally
  }

  async #tick(added: number, lastId: number): Promise<void> {
    await this.#run(statements.tick(this.#scope, this.#resource, added, lastId))
  }

  async #knownOf(ids: readonly string[], lastId: number): Promise<ReadonlySet<string>> {
    // No id is above the last one, so the rows of a first import need no look.
    const candidates = ids.filter((id) => Number(id) <= lastId)
    if (candidates.length === 0) return new Set()
    const { rows } = await this.#run<{ id: string }>(
      statements.known(this.#scope, this.#resource, candidates),
    )
    return new Set(rows.map(({ id }) => id))
  }

  /** New records go by COPY, straight into the table. */
  async #insert(rows: readonly ImportRow[], { version, moment }: TallyRow): Promise<number> {
    if (rows.length === 0) return 0
    const absent = this.#resource.fields.map((field) => {
      if (field.absent === 'now') return moment
      return field.absent === null ? '\\N' : String(field.absent)
    })
    const prefix = `${this.#scope.accountId}\t${version}\t`
    await copyIn(
      this.#client,
      statements.copyRecords(this.#resource),
      rows.map((row) => prefix + absent.map((otherwise, place) => row[place] ?? otherwise).join('\t')),
    )
    return rows.length
  }

  /** Records that are there go by COPY into a temporary table, and from it where they differ. */
  async #update(rows: readonly ImportRow[], { version, moment }: TallyRow): Promise<number> {
    if (rows.length === 0) return 0
    const given = rows.map(givenOf)
    const columns = this.#resource.fields.flatMap((field, place) => {
      const bit = 2 ** place
      if (!given.some((mask) => mask & bit)) return []
      return [{ name: field.name, place, bit, always: given.every((mask) => mask & bit) }]
    })
    await copyIn(
      this.#client,
      statements.copyStaging(columns.map(({ name }) => identifier(name))),
      rows.map((row, i) => `${given[i]}\t${columns.map(({ place }) => row[place] ?? '\\N').join('\t')}`),
    )
    const ids = rows.map((row) => row[0] ?? '')
    const { rowCount } = await this.#run(
      statements.update(this.#scope, this.#resource, { ids, columns, version, moment }),
    )
    return rowCount ?? 0
  }

  async #run<Row extends pg.QueryResultRow>({ text, values }: Statement): Promise<pg.QueryResult<Row>> {
    return await this.#client.query<Row>(text, [...values])
  }
}

/** Which fields a row gives, one bit each. */
function givenOf(row: ImportRow): number {
  return row.reduce((mask, cell, place) => (cell === undefined ? mask : mask | (2 ** place)), 0)
}

function highest(rows: readonly ImportRow[]): number {
  return rows.reduce((most, row) => Math.max(most, Number(row[0])), 0)
}
