import { CursorExpired } from '@quartermaster/client'
import { linkRecord } from './births.ts'
import type { RecordHere, Records } from './records.ts'
import { decimalText, type Field, type Key, printOf, type SourceRow, type Value } from './values.ts'

export interface Applied {
  readonly compared: number
  readonly inserted: number
  readonly updated: number
  /** The rows that were written, in their order. */
  readonly written: readonly SourceRow[]
}

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
  readonly #prints = new Map<Key, number>()
  /** The feed names deleted records by their id only. */
  readonly #keys = new Map<number, Key>()
  #cursor: string | undefined

  constructor(records: Records, keyField: string, fields: readonly Field[]) {
    this.#records = records
    this.#keyField = keyField
    this.#fields = fields
  }

  get size(): number {
    return this.#prints.size
  }

  keys(): ReadonlySet<Key> {
    return new Set(this.#prints.keys())
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
    const prints = new Map(rows.map((row) => [row.key, printOf(this.#fields, row.values)]))
    const changed = rows.filter(({ key }) => {
      const print = prints.get(key)
      return this.#prints.get(key) !== print && (again || this.rejected.get(key)?.print !== print)
    })
    if (changed.length === 0) return { compared: rows.length, inserted: 0, updated: 0, written: [] }
    const refused = new Map<Key, Rejection>()
    const { inserted, updated } = await this.#records.upsert(
      changed.map((row) => this.#rowHere(row)),
      {
        key: this.#keyField,
        onRejected: ({ row, field, reason }) =>
          refused.set(Reflect.get(row, this.#keyField), { field, reason }),
      },
    )
    for (const { key } of changed) {
      const [print, rejection] = [prints.get(key) ?? 0, refused.get(key)]
      if (rejection !== undefined) this.rejected.set(key, { ...rejection, print })
      else {
        this.#prints.set(key, print)
        this.rejected.delete(key)
      }
    }
    const written = changed.filter(({ key }) => !refused.has(key))
    return { compared: rows.length, inserted, updated, written }
  }

  /** Gives a record that was born here its key. If it no longer exists, the row of the source becomes a new one. */
  async adopt(id: number, key: Key): Promise<void> {
    await linkRecord(this.#records, this.#keyField, id, key)
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

  #rowHere({ key, values }: SourceRow): object {
    const sent = this.#fields.map(({ name, kind }) => [name, sentValue(kind, values[name] ?? null)])
    return { [this.#keyField]: key, ...Object.fromEntries(sent) }
  }
}

function sentValue(kind: Field['kind'], value: Value): Value {
  const isNumber = typeof value === 'number' || typeof value === 'string'
  return kind === 'decimal' && isNumber ? decimalText(value) : value
}

function isKey(value: unknown): value is Key {
  return typeof value === 'string' || typeof value === 'number'
}
