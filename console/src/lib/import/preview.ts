import { quoted } from '@quartermaster/filter'
import type { Collection } from '../../api/catalog.ts'
import type { Row, Value } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { plainText } from '../format.ts'
import type { Cell } from './csv-rows.ts'
import type { MappedRow, Mapping, Reject } from './mapping.ts'
import { faultOf, isSame } from './values.ts'

/** Rows that are compared with the records before an import. */
export const previewRowsMax = 1_000
/** Keys of one request: its URL stays far below the limit of 16 KB. */
const keysMax = 200
const keyCharactersMax = 4_000
const examplesMax = 20

export interface Change {
  readonly key: string
  readonly field: string
  readonly from: string
  readonly to: string
}

export interface Preview {
  readonly checked: number
  readonly inserts: number
  readonly changes: number
  readonly unchanged: number
  readonly rejects: readonly Reject[]
  /** Some of the changes. */
  readonly examples: readonly Change[]
}

/** Reads the records with these values of the key. */
export type ReadRecords = (filter: string, fields: readonly string[]) => Promise<readonly Row[]>

const requiredFields: Partial<Readonly<Record<Collection['name'], readonly string[]>>> = {
  company: ['name', 'branch_user'],
}

/** What an import of the first rows would do, by comparing them with the records. */
export async function previewOf(
  rows: readonly MappedRow[],
  collection: Collection,
  mapping: Mapping,
  read: ReadRecords,
): Promise<Preview> {
  const checked = rows.slice(0, previewRowsMax)
  const rejects: Reject[] = []
  const valid: (MappedRow & { readonly values: Readonly<Record<string, Cell>> })[] = []
  for (const row of checked) {
    const { values } = row
    const reason = values === undefined ? cellsReason(row, mapping) : faultIn(values, collection, mapping.key)
    if (reason !== undefined) rejects.push({ row, reason })
    else if (values !== undefined) valid.push({ ...row, values })
  }
  const records = await existing(
    valid.map(({ values }) => values[mapping.key] ?? ''),
    collection,
    mapping,
    read,
  )
  const preview = { inserts: 0, changes: 0, unchanged: 0 }
  const examples: Change[] = []
  for (const row of valid) {
    const { values } = row
    const key = values[mapping.key] ?? ''
    const record = records.get(key)
    const reason = modeFault(values, record, collection, mapping)
    if (reason !== undefined) rejects.push({ row, reason })
    else if (record === undefined) preview.inserts += 1
    else {
      const changed = changesIn(key, values, record, collection)
      if (changed.length === 0) preview.unchanged += 1
      else preview.changes += 1
      examples.push(...changed.slice(0, examplesMax - examples.length))
    }
  }
  rejects.sort((one, other) => one.row.line - other.row.line)
  return { checked: checked.length, ...preview, rejects, examples }
}

function cellsReason({ cells }: MappedRow, { columns }: Mapping): string {
  return t.import.cells(cells.length, columns.length)
}

function faultIn(
  values: Readonly<Record<string, Cell>>,
  { fields }: Collection,
  key: string,
): string | undefined {
  const faults = Object.entries(values).flatMap(([name, cell]) => {
    const field = fields.find((one) => one.name === name)
    const fault = name === key && cell === null ? t.import.required : field && faultOf(field, cell)
    return fault === undefined ? [] : [`${name} ${fault}${cell === null ? '' : `: ${cell.slice(0, 60)}`}`]
  })
  return faults.length === 0 ? undefined : faults.join('; ')
}

async function existing(
  keys: readonly string[],
  collection: Collection,
  { key, columns }: Mapping,
  read: ReadRecords,
): Promise<ReadonlyMap<string, Row>> {
  const fields = [...new Set(['id', key, ...columns.filter((name) => name !== undefined)])]
  const isText = collection.fields.some(({ name, type }) => name === key && type === 'text')
  const found = new Map<string, Row>()
  for (const part of parts([...new Set(keys)])) {
    const records = await read(`${key}[${(isText ? part.map(quoted) : part).join(',')}]`, fields)
    for (const record of records) found.set(String(record[key]), record)
  }
  return found
}

function parts(keys: readonly string[]): readonly (readonly string[])[] {
  const all: string[][] = []
  let part: string[] = []
  let characters = 0
  for (const key of keys) {
    if (part.length === keysMax || (part.length > 0 && characters + key.length > keyCharactersMax)) {
      all.push(part)
      part = []
      characters = 0
    }
    part.push(key)
    characters += key.length
  }
  return part.length === 0 ? all : [...all, part]
}

function modeFault(
  values: Readonly<Record<string, Cell>>,
  record: Row | undefined,
  { name }: Collection,
  { key, mode }: Mapping,
): string | undefined {
  const { one } = t.nouns[name]
  if (record !== undefined) return mode === 'insert' ? t.import.exists(one, key) : undefined
  if (mode === 'update') return t.import.missing(one, key)
  const missing = (requiredFields[name] ?? ['name']).find((field) => (values[field] ?? null) === null)
  return missing === undefined ? undefined : t.import.requiredFor(missing, one)
}

function changesIn(
  key: string,
  values: Readonly<Record<string, Cell>>,
  record: Row,
  { fields }: Collection,
): readonly Change[] {
  return fields.flatMap((field) => {
    const cell = values[field.name]
    if (cell === undefined || isSame(field, cell, record[field.name])) return []
    return [{ key, field: field.name, from: shown(record[field.name]), to: shown(cell) }]
  })
}

function shown(value: Value | undefined): string {
  return value === null || value === undefined ? 'null' : value === '' ? t.record.emptyText : plainText(value)
}
