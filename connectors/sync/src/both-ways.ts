import type { RecordHere, Records } from './records.ts'
import type { Status } from './status.ts'
import { type Field, type Key, printOf, type SourceRow, textOf, type Value } from './values.ts'

export interface UpdateTarget {
  /** Writes values to a record of the source if it still has the values that are expected. `moved`: it has others now. */
  update(
    key: Key,
    values: Readonly<Record<string, Value>>,
    expected: Readonly<Record<string, Value>>,
  ): Promise<'written' | 'moved' | { readonly fault: string }>
}

/** A row as it will be here, if the record still has this ETag. */
export interface Settled {
  readonly row: SourceRow
  readonly etag?: string
}

/** Keys of one lookup by a filter. */
const keysPerRead = 50
export const conflictsKept = 1_000

/**
 * Fields that people change on both sides. Each record here has a field with prints of the values on which both sides last agreed. So a
 * comparison of a record with its row shows, without any other state, which side has changed what: a change there comes here, a change
 * here goes there, and if both differ from what was agreed, both stay and the conflict is listed.
 */
export class BothWays {
  readonly #records: Records
  readonly #keyField: string
  readonly #agreedField: string
  readonly #fields: readonly Field[]
  readonly #target: UpdateTarget
  readonly #updates: Status['updates']
  /** What the source did not accept, so that it is not sent with each poll. */
  readonly #refused = new Map<Key, { readonly text: string; readonly fault: string }>()

  constructor(
    records: Records,
    names: { readonly keyField: string; readonly agreedField: string; readonly fields: readonly Field[] },
    target: UpdateTarget,
    status: Status,
  ) {
    this.#records = records
    this.#keyField = names.keyField
    this.#agreedField = names.agreedField
    this.#fields = names.fields
    this.#target = target
    this.#updates = status.updates
  }

  get sent(): number {
    return this.#updates.sent
  }

  /** The row of a record that is equal here. */
  agreed(row: SourceRow): SourceRow {
    const prints = new Map(this.#fields.map((field) => [field.name, printText(field, row.values)]))
    return { ...row, values: { ...row.values, [this.#agreedField]: textOfPrints(prints) } }
  }

  /** What is to be written here for rows that differ from their records. Sends to the source what was changed here only. */
  async settle(rows: readonly SourceRow[], isHere: (key: Key) => boolean): Promise<readonly Settled[]> {
    const records = await this.#recordsOf(rows.map(({ key }) => key).filter(isHere))
    const settled: Settled[] = []
    for (const row of rows) {
      const record = records.get(row.key)
      if (record === undefined) settled.push({ row: this.agreed(row) })
      else settled.push({ row: await this.#settled(row, record), etag: textOf(record['etag']) })
    }
    return settled
  }

  async #settled(row: SourceRow, record: RecordHere): Promise<SourceRow> {
    const agreed = printsOf(record[this.#agreedField])
    const values: Record<string, Value> = { ...row.values }
    const [sent, conflicts]: [Field[], Field[]] = [[], []]
    for (const field of this.#fields) {
      const [there, here] = [printText(field, row.values), printText(field, record)]
      const before = agreed.get(field.name) ?? unknownBefore(row, there, here)
      if (here === there || here === before) agreed.set(field.name, there)
      else {
        values[field.name] = valueIn(record[field.name])
        if (there === before) sent.push(field)
        else conflicts.push(field)
      }
    }
    const fault = await this.#send(row, record, sent, agreed)
    const texts = conflicts.map(
      ({ name }) => `${name} is ${textOf(record[name])} here and ${textOf(row.values[name])} in the source`,
    )
    this.#list(row.key, fault === undefined ? texts : [...texts, fault])
    return { ...row, values: { ...values, [this.#agreedField]: textOfPrints(agreed) } }
  }

  /** Returns why the source did not accept the values. */
  async #send(
    { key, values: there }: SourceRow,
    record: RecordHere,
    fields: readonly Field[],
    agreed: Map<string, string>,
  ): Promise<string | undefined> {
    if (fields.length === 0) return undefined
    const values = Object.fromEntries(fields.map(({ name }) => [name, valueIn(record[name])]))
    const expected = Object.fromEntries(fields.map(({ name }) => [name, there[name] ?? null]))
    const text = JSON.stringify([values, expected])
    const refused = this.#refused.get(key)
    if (refused?.text === text) return refused.fault
    const answer = await this.#target.update(key, values, expected)
    // The next poll reads the row again.
    if (answer === 'moved') return undefined
    if (answer !== 'written') {
      this.#refused.set(key, { text, fault: answer.fault })
      return answer.fault
    }
    this.#refused.delete(key)
    this.#updates.sent++
    for (const field of fields) agreed.set(field.name, printText(field, record))
    return undefined
  }

  #list(key: Key, texts: readonly string[]): void {
    const { conflicts } = this.#updates
    if (texts.length === 0) delete conflicts[key]
    else if (key in conflicts || Object.keys(conflicts).length < conflictsKept)
      conflicts[key] = texts.join('; ')
  }

  async #recordsOf(keys: readonly Key[]): Promise<ReadonlyMap<Key, RecordHere>> {
    const found = new Map<Key, RecordHere>()
    const fields = ['id', 'etag', this.#keyField, this.#agreedField, ...this.#fields.map(({ name }) => name)]
    for (let at = 0; at < keys.length; at += keysPerRead) {
      const part = keys.slice(at, at + keysPerRead).map((key) => `${this.#keyField}=${JSON.stringify(key)}`)
      for await (const record of this.#records.all({ fields, filter: part.join('|') })) {
        const key = record[this.#keyField]
        if (typeof key === 'string' || typeof key === 'number') found.set(key, record)
      }
    }
    return found
  }
}

/**
 * A record without prints. Of one that was born here and never changed in the source, the value here is the newer one. If it was changed
 * there, nobody knows which is. Of all others the source owned every field until now.
 */
function unknownBefore({ isByUs, changedAt, bornAt }: SourceRow, there: string, here: string): string {
  if (isByUs !== true) return here
  return changedAt === bornAt ? there : ''
}

function printText(field: Field, values: Readonly<Record<string, unknown>>): string {
  return printOf([field], values).toString(36)
}

function textOfPrints(prints: ReadonlyMap<string, string>): string {
  return [...prints].map(([name, print]) => `${name}:${print}`).join(' ')
}

function printsOf(text: unknown): Map<string, string> {
  const prints = new Map<string, string>()
  for (const part of typeof text === 'string' ? text.split(' ') : []) {
    const [name, print] = part.split(':')
    if (name !== undefined && print !== undefined) prints.set(name, print)
  }
  return prints
}

function valueIn(value: unknown): Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
