import type { Collection, Field } from '../../api/catalog.ts'
import { t } from '../../texts/texts.ts'
import { type Cell, type CsvFile, type CsvRow, csvLine } from './csv-rows.ts'
import { type Notation, sentCell } from './values.ts'

export const modes = ['upsert', 'update', 'insert'] as const

export type Mode = (typeof modes)[number]

/** What becomes of a file: for each column the name of its field, or nothing. */
export interface Mapping {
  readonly columns: readonly (string | undefined)[]
  /** The field by which rows name their record. */
  readonly key: string
  readonly mode: Mode
  readonly notation: Notation
}

/** Names that other systems use. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  name: ['bezeichnung', 'firma', 'title'],
  default_code: ['sku', 'code', 'article_number', 'artikelnummer', 'internal_reference'],
  list_price: ['price', 'preis', 'sales_price', 'unit_price'],
  qty_available: ['qty', 'quantity', 'stock', 'bestand', 'menge'],
  active: ['aktiv'],
  email: ['e_mail', 'mail'],
  phone: ['telefon', 'tel', 'telephone'],
}

/** "E-Mail " → "e_mail" */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_|_$/g, '')
}

/** The fields whose name, label or synonym the columns have; a name before a label before a synonym. */
export function suggestedColumns(
  header: readonly string[],
  { fields }: Collection,
): readonly (string | undefined)[] {
  const taken = new Set<string>()
  const columns = header.map((): string | undefined => undefined)
  for (const matches of [isNameOf, isLabelOf, isSynonymOf]) {
    for (const [index, column] of header.entries()) {
      if (columns[index] !== undefined) continue
      const found = fields.find((field) => !taken.has(field.name) && matches(field, plain(column)))
      if (found === undefined) continue
      taken.add(found.name)
      columns[index] = found.name
    }
  }
  return columns
}

function isNameOf({ name }: Field, wanted: string): boolean {
  return name === wanted || name === `x_${wanted}`
}

function isLabelOf({ description }: Field, wanted: string): boolean {
  return plain(description) === wanted
}

function isSynonymOf({ name }: Field, wanted: string): boolean {
  return synonyms[name]?.includes(wanted) === true
}

/** The fields that can name a record: its id, and those that can be unique. */
export function keyChoices(collection: Collection, candidate: string | undefined): readonly string[] {
  const own = collection.fields.filter(
    ({ name, type }) => name.startsWith('x_') && (type === 'text' || type === 'integer'),
  )
  return ['id', ...(candidate === undefined ? [] : [candidate]), ...own.map(({ name }) => name)]
}

/** Why the file cannot be imported in this way; undefined if it can. */
export function mappingFault({ columns, key }: Mapping): string | undefined {
  const names = columns.filter((name) => name !== undefined)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return t.import.mappedTwice(twice)
  if (!names.includes(key)) return t.import.noKeyColumn(key)
  if (key !== 'id' && names.includes('id')) return t.import.noId
  if (names.length < 2) return t.import.oneMore
  return undefined
}

export interface MappedRow extends CsvRow {
  /** The cells of the mapped columns, as they are sent. Undefined if the row has too few or too many cells. */
  readonly values: Readonly<Record<string, Cell>> | undefined
}

interface Column {
  readonly index: number
  readonly field: Field
  /** The column has the form for spreadsheets, from which the service restores the exact texts. */
  readonly isMarked: boolean
}

function columnsOf(
  header: readonly string[],
  collection: Collection,
  { columns }: Mapping,
): readonly Column[] {
  return columns.flatMap((name, index) => {
    const field = collection.fields.find((one) => one.name === name)
    if (field === undefined) return []
    return [{ index, field, isMarked: field.type === 'text' && header[index]?.startsWith("'") === true }]
  })
}

/** The rows with the values of the mapped columns. */
export function mappedRows(
  { header, rows }: CsvFile,
  collection: Collection,
  mapping: Mapping,
): readonly MappedRow[] {
  const columns = columnsOf(header, collection, mapping)
  return rows.map((row) => ({
    ...row,
    values:
      row.cells.length === header.length
        ? Object.fromEntries(
            columns.map(({ index, field, isMarked }) => [
              field.name,
              sentCell(
                field,
                isMarked ? unmarked(row.cells[index]) : (row.cells[index] ?? null),
                mapping.notation,
              ),
            ]),
          )
        : undefined,
  }))
}

const withinMark = /(?<=[;\t\r\n])'(?=['"]*[=+\-@＝＋－＠])/g
const startMark = /^'+(?:[=+\-@\t\r\n＝＋－＠]|$)/

/** The exact text of a cell in the form for spreadsheets (docs/reference/export.md). */
function unmarked(cell: Cell | undefined): Cell {
  if (cell === null || cell === undefined) return null
  const text = cell.replace(withinMark, '')
  return startMark.test(text) ? text.slice(1) : text
}

export interface CsvBody {
  readonly text: string
  /** The row at each line of the body at which one begins. */
  readonly rowAt: ReadonlyMap<number, MappedRow>
}

/** The rows as a body of a batch. */
export function csvBody(rows: readonly MappedRow[]): CsvBody {
  const names = Object.keys(rows.find(({ values }) => values !== undefined)?.values ?? {})
  const lines = [csvLine(names)]
  const rowAt = new Map<number, MappedRow>()
  let line = 2
  for (const row of rows) {
    if (row.values === undefined) continue
    const { values } = row
    const text = csvLine(names.map((name) => values[name] ?? null))
    rowAt.set(line, row)
    line += text.split('\n').length
    lines.push(text)
  }
  return { text: `${lines.join('\n')}\n`, rowAt }
}

export interface Reject {
  readonly row: CsvRow
  /** "list_price is not a decimal number: cheap" */
  readonly reason: string
}

/** A file of the rejected rows with all their columns and the reason, to be corrected and imported again. */
export function rejectsCsv(header: readonly string[], rejects: readonly Reject[]): string {
  const lines = rejects.map(({ row, reason }) => csvLine([...row.cells, reason]))
  return `\uFEFF${[csvLine([...header, t.import.rejectedBecause]), ...lines].map((line) => `${line}\r\n`).join('')}`
}
