import { CursorExpired } from '@quartermaster/client'
import { linkRecord } from './births.ts'
import type { BothWays, Settled } from './both-ways.ts'
import { KeyMap, KeysById } from './number-map.ts'
import type { RecordHere, Records } from './records.ts'
import { decimalText, type Field, type Key, printOf, type SourceRow, type Value } from './values.ts'

export interface Applied {
  readonly compared: number
  readonly inserted: number
  readonly updated: number
  /** The rows that were written, in their order. */
  readonly written: readonly SourceRow[]
}

/** Ids of one lookup by a filter. */
const idsPerRead = 50

/** A row that the service did not accept. It is sent again when it changes, and by each rolling sweep. */
export interface Rejection {
  readonly field: string
  readonly reason: string
}

/**
 * The records here that the source owns: those with a key. It knows a print of each, so rows that are equal are not sent. The prints are
 * those of the records that the service has, not of what was sent: `load` reads them and `follow` keeps them, also after a lost state, a
 * lost response, and writes of others.
 */
export class Copy {
  readonly rejected = new Map<Key, Rejection & { readonly print: number }>()
  /** Some keys, with the date of birth that their records have here. */
  readonly sample: (readonly [key: Key, bornAt: number])[] = []
  readonly #records: Records
  readonly #keyField: string
  readonly #fields: readonly Field[]
  readonly #bothWays: BothWays | undefined
  readonly #prints = new KeyMap()
  /** The feed names deleted records by their id only. */
  readonly #keys = new KeysById()
  #cursor: string | undefined

  constructor(records: Records, keyField: string, fields: readonly Field[], bothWays?: BothWays) {
    this.#records = records
    this.#keyField = keyField
    this.#fields = fields
    this.#bothWays = bothWays
  }

  get size(): number {
    return this.#prints.size
  }

  /** Records whose changes here have been sent to the source. */
  get sent(): number {
    return this.#bothWays?.sent ?? 0
  }

  keys(): Generator<Key, void, undefined> {
    return this.#prints.keys()
  }

  has(key: Key): boolean {
    return this.#prints.has(key)
  }

  isEqual(row: SourceRow): boolean {
    return this.#prints.get(row.key) === printOf(this.#fields, row.values)
  }

  /** Reads all records with a key. Returns the number. */
  async load(): Promise<number> {
    this.#prints.clear()
    this.#keys.clear()
    this.sample.length = 0
    // The cursor first: what others write while the records are read comes by the feed.
    this.#cursor = await this.#cursorNow()
    const options = { fields: this.#names(), filter: `${this.#keyField}!=null` }
    for await (const record of this.#records.all(options)) {
      this.#remember(record)
      const key = this.#keys.get(record.id)
      if (key !== undefined) this.#addToSample(key, record['create_date'])
    }
    return this.size
  }

  /** Reads what was written here since the last call. Returns the keys of records that somebody else has changed or deleted. */
  async follow(): Promise<readonly Key[]> {
    const foreign = new Set<Key>()
    try {
      const feed = this.#records.changes({ fields: this.#names(), since: this.#cursor })
      for (;;) {
        const next = await feed.next()
        if (next.done === true) {
          this.#cursor = next.value
          return [...foreign]
        }
        const change = next.value
        const before = this.#keys.get(change.id)
        if ('record' in change) {
          const key = change.record[this.#keyField]
          const print = isKey(key) ? this.#prints.get(key) : undefined
          this.#remember(change.record)
          if (isKey(key) && this.#prints.get(key) !== print) foreign.add(key)
          if (before !== undefined && before !== key) foreign.add(before)
        } else {
          // What this connector has deleted has no print any more.
          if (before !== undefined && this.#prints.has(before)) foreign.add(before)
          this.#forget(change.id)
        }
      }
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error
      await this.load()
      return [...this.#prints.keys()]
    }
  }

  /** Writes the rows that differ from what is here. */
  async apply(rows: readonly SourceRow[], { again = false } = {}): Promise<Applied> {
    const all = this.#bothWays === undefined ? rows : rows.map((row) => this.#bothWays?.agreed(row) ?? row)
    const changed = await this.#changed(all, again)
    if (changed.length === 0) return { compared: rows.length, inserted: 0, updated: 0, written: [] }
    const refused = new Map<Key, Rejection & { readonly isOutdated: boolean }>()
    const { inserted, updated } = await this.#records.upsert(
      changed.map((one) => this.#rowHere(one)),
      {
        key: this.#keyField,
        onRejected: ({ row, field, reason, code }) =>
          refused.set(Reflect.get(row, this.#keyField), {
            field,
            reason,
            isOutdated: code === 'changed' || code === 'record_unknown',
          }),
      },
    )
    for (const { row, print } of changed) {
      const rejection = refused.get(row.key)
      if (rejection === undefined) {
        this.#prints.set(row.key, print)
        this.rejected.delete(row.key)
      } else if (!rejection.isOutdated) this.rejected.set(row.key, { ...rejection, print })
      // Somebody has changed the record since it was read. The feed names it, and it is read again.
    }
    const written = changed.filter(({ row }) => !refused.has(row.key)).map(({ row }) => row)
    return { compared: rows.length, inserted, updated, written }
  }

  async #changed(
    rows: readonly SourceRow[],
    again: boolean,
  ): Promise<readonly (Settled & { readonly print: number })[]> {
    const printed = (one: Settled) => ({ ...one, print: printOf(this.#fields, one.row.values) })
    const isChanged = ({ row: { key }, print }: ReturnType<typeof printed>) =>
      this.#prints.get(key) !== print && (again || this.rejected.get(key)?.print !== print)
    const changed = rows.map((row) => printed({ row })).filter(isChanged)
    if (this.#bothWays === undefined || changed.length === 0) return changed
    const settled = await this.#bothWays.settle(
      changed.map(({ row }) => row),
      (key) => this.has(key),
    )
    return settled.map(printed).filter(isChanged)
  }

  /** Gives records that were born here their keys. If one no longer exists, the row of the source becomes a new one. */
  async adopt(born: readonly { readonly id: number; readonly key: Key }[]): Promise<void> {
    for (let at = 0; at < born.length; at += idsPerRead) {
      const part = born.slice(at, at + idsPerRead)
      const found = new Set<number>()
      const filter = part.map(({ id }) => `id=${id}`).join('|')
      for await (const { id } of this.#records.all({ fields: ['id'], filter })) found.add(id)
      for (const { id, key } of part)
        if (found.has(id)) await linkRecord(this.#records, this.#keyField, id, key)
    }
  }

  async remove(keys: readonly Key[]): Promise<number> {
    if (keys.length === 0) return 0
    const faults: string[] = []
    const rows = keys.map((key) => ({ $delete: { [this.#keyField]: key } }))
    const { deleted } = await this.#records.upsert(rows, {
      key: this.#keyField,
      onRejected: ({ reason }) => faults.push(reason),
    })
    if (faults.length > 0) throw new Error(`A delete was rejected: ${faults[0]}`)
    for (const key of keys) {
      this.#prints.delete(key)
      this.rejected.delete(key)
    }
    return deleted
  }

  #names(): string[] {
    return ['id', this.#keyField, ...this.#fields.map(({ name }) => name)]
  }

  async #cursorNow(): Promise<string> {
    const feed = this.#records.changes({ fields: ['id'], since: 'now' })
    for (;;) {
      const next = await feed.next()
      if (next.done === true) return next.value
    }
  }

  #remember(record: RecordHere): void {
    const key = record[this.#keyField]
    const before = this.#keys.get(record.id)
    if (before !== undefined && before !== key) this.#forget(record.id)
    if (!isKey(key)) return
    this.#keys.set(record.id, key)
    this.#prints.set(key, printOf(this.#fields, record))
  }

  #forget(id: number): void {
    const key = this.#keys.get(id)
    if (key === undefined) return
    this.#keys.delete(id)
    this.#prints.delete(key)
  }

  /** Every record of the first 100, then fewer and fewer. */
  #addToSample(key: Key, born: unknown): void {
    const every = Math.max(1, Math.floor(this.size / 100))
    if (this.size % every === 0 && typeof born === 'string')
      this.sample.push([key, Math.floor(Date.parse(born) / 1000)])
  }

  #rowHere({ row: { key, values }, etag }: Settled): object {
    const sent = this.#fields.map(({ name, kind }) => [name, sentValue(kind, values[name] ?? null)])
    const condition = etag === undefined ? {} : { $if_match: etag }
    return { [this.#keyField]: key, ...Object.fromEntries(sent), ...condition }
  }
}

function sentValue(kind: Field['kind'], value: Value): Value {
  const isNumber = typeof value === 'number' || typeof value === 'string'
  return kind === 'decimal' && isNumber ? decimalText(value) : value
}

function isKey(value: unknown): value is Key {
  return typeof value === 'string' || typeof value === 'number'
}
