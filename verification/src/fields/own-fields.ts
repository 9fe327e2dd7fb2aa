import type { Filter } from '@quartermaster/filter'
import { evaluate } from '../filter-proof/evaluate.ts'
import { randomFilter } from '../filter-proof/filters.ts'
import { randomValue } from '../filter-proof/rows.ts'
import {
  type Field,
  type FieldType,
  type PlainRecord,
  type Resource,
  resources,
} from '../filter-proof/schema.ts'
import { write } from '../filter-proof/write.ts'
import type { Random } from '../random.ts'

/**
 * A resource with random fields that an account has declared, and rows of it. Lists, pages and exports of the service are compared with
 * the evaluator of the filter proof, which knows nothing of how values are stored.
 */
export interface OwnSet {
  readonly resource: Resource
  readonly own: readonly Field[]
  readonly rows: readonly PlainRecord[]
}

const types: readonly FieldType[] = ['text', 'integer', 'decimal', 'boolean', 'timestamp']
/** Below the limits of the service for a filter in a URL. */
const urlFilterMax = 1_500
const pageSize = 7

export function randomOwnSet(random: Random, rowsCount: number): OwnSet {
  const own = types.flatMap((type, i): Field[] =>
    Array.from({ length: random.integer(1, 3) }, (_, n) => ({
      name: `x_${type}${i}${n}`,
      type,
      nullable: true,
      ...(type === 'text' ? { max: 512 } : {}),
    })),
  )
  // The service assigns the dates.
  const base = resources.company.fields.filter(({ name }) => !name.endsWith('_date'))
  const resource = { ...resources.company, fields: [...base, ...own] }
  const rows = Array.from({ length: rowsCount }, (_, i): PlainRecord => {
    const values = resource.fields.map((field) => [field.name, randomValue(random, field)])
    return { ...Object.fromEntries(values), id: String(i + 1) }
  })
  return { resource, own, rows }
}

/** A row as a line of NDJSON, in which numbers keep all their digits. */
export function lineOf({ fields }: Resource, row: PlainRecord): string {
  const members = fields.map(({ name, type }) => {
    const value = row[name] ?? null
    const isNumber = type === 'integer' || type === 'decimal'
    return `"${name}":${isNumber && value !== null ? String(value) : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}

/** Sends a GET of the list of the resource. Throws unless the status is 200. */
export type Read = (query: string, accept: string) => Promise<string>

export interface Comparison {
  readonly compared: number
  /** Records that filters found. */
  readonly found: number
  readonly faults: readonly string[]
}

/** Compares random filters as lists, pages and exports, and all values as an export. */
export async function compareOwnSet(
  set: OwnSet,
  random: Random,
  filters: number,
  read: Read,
): Promise<Comparison> {
  const { resource, rows } = set
  const faults: string[] = []
  let [compared, found] = [0, 0]
  for (let i = 0; i < filters; i++) {
    const filter = randomFilter(random, resource, rows)
    const text = write(filter, random)
    if (text.length > urlFilterMax) continue
    const fault = await compareFilter(set, filter, text, read)
    if (typeof fault === 'string') faults.push(`${text}: ${fault}`)
    else found += fault
    compared += 3
  }
  const names = resource.fields.map(({ name }) => name)
  const exported = linesOf(await read(`fields=${names.join(',')}`, 'application/x-ndjson'))
  const wrong = rows.findIndex((row, i) => lineOf(resource, row) !== exported[i])
  if (wrong >= 0 || exported.length !== rows.length) faults.push(`the export differs at row ${wrong}`)
  return { compared: compared + 1, found, faults }
}

/** The number of records, or what is wrong. */
async function compareFilter(
  { resource, rows }: OwnSet,
  filter: Filter,
  text: string,
  read: Read,
): Promise<number | string> {
  const expected = evaluate(filter, resource, rows).map((row) => Number(row['id']))
  const query = `fields=id&filter=${encodeURIComponent(text)}`
  const list = await readAll(query, read)
  const ids = list.data.map(({ id }) => id).join()
  if (ids !== expected.join()) return `the list has ${ids}, not ${expected.join()}`
  if (list.meta.total !== expected.length) return `the total is ${list.meta.total}, not ${expected.length}`
  const page: Page = JSON.parse(await read(`${query}&limit=${pageSize}&page=2`, 'application/json'))
  if (page.data.map(({ id }) => id).join() !== expected.slice(pageSize, 2 * pageSize).join())
    return 'the second page differs'
  const lines = linesOf(await read(query, 'application/x-ndjson'))
  if (lines.join() !== expected.map((id) => `{"id":${id}}`).join()) return 'the export differs'
  return expected.length
}

interface Page {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly total: number }
  readonly pagination: { readonly nextPage: number | null }
}

/** All records, by as few pages as possible, and the total of the last page. */
async function readAll(query: string, read: Read): Promise<Page> {
  const data: { readonly id: number }[] = []
  for (let number = 1; ; number++) {
    const page: Page = JSON.parse(await read(`${query}&limit=1000&page=${number}`, 'application/json'))
    data.push(...page.data)
    if (page.pagination.nextPage === null) return { ...page, data }
  }
}

/** The records of an export, without its last line. */
function linesOf(text: string): string[] {
  return text.trimEnd().split('\n').slice(0, -1)
}
