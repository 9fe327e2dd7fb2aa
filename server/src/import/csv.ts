import { type CsvError, parse } from 'csv-parse'
import { limits } from '../limits/limits.ts'
import { exactText, nameOfMarked } from '../query/spreadsheet-form.ts'
import { fieldIndexes, ImportError, rejectBlankLines } from './columns.ts'
import { ChunkBuilder, type CsvCell, quotedEmpty, type RowChunk } from './row.ts'
import type { RowResource } from './row-resource.ts'

/** Parses a CSV file with a header. Yields one chunk of rows for each buffer of input. */
export async function* csvRows(
  resource: RowResource,
  input: AsyncIterable<Buffer>,
): AsyncGenerator<RowChunk> {
  let columns: number[] | undefined
  // Counted here, because csv-parse counts a \r\n within quotes as two lines.
  let line = 1
  let blank = 0
  const header = new Header(resource)
  let chunk = new ChunkBuilder(resource)
  const parser = parse({
    bom: true,
    relax_column_count: true,
    max_record_size: limits.importLineBytesMax,
    // csv-parse reports quotes only here. The cast doubles the parsing time, to 15 µs per row; writing a row takes over 100 µs.
    cast: (text, { quoting, index }) => {
      if (columns === undefined) header.add(text, index)
      else if (index >= limits.importCellsMax) throw tooManyCells(line)
      return quoting && text === '' ? quotedEmpty : text
    },
    // Called synchronously within `write`, once per record. Returning null drops the record from the parser's readable side.
    on_record: (record: readonly CsvCell[]) => {
      const start = line
      line += 1 + record.reduce((sum, cell) => sum + lineFeedsIn(cell), 0)
      if (columns === undefined) columns = fieldIndexes(resource, header.names)
      else if (record.length > 1 || record[0] !== '') chunk.addCsv(start, columns, header.exact(record))
      else rejectBlankLines(++blank)
      return null
    },
  })
  const write = (buffer: Buffer | undefined) =>
    new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null) => (error ? reject(fileError(error, line)) : resolve())
      if (buffer === undefined) parser.once('error', done).end(() => done())
      else parser.write(buffer, done)
    })
  // Each error is also passed to the callback of its write, which handles it.
  parser.on('error', () => {})
  for await (const buffer of input) {
    await write(buffer)
    yield chunk
    chunk = new ChunkBuilder(resource)
  }
  await write(undefined)
  yield chunk
  if (columns === undefined)
    throw new ImportError('The file is empty. A CSV file must begin with a header. Nothing was written.')
}

/** The name of a text column may be marked: then its texts are in the form for spreadsheets. */
function fieldNameOf(resource: RowResource, column: string): string {
  const name = nameOfMarked(column)
  const field = resource.fields.find((candidate) => candidate.name === name)
  return field?.type === 'text' ? field.name : column
}

function exactCell(cell: CsvCell): CsvCell {
  if (typeof cell !== 'string' || cell === '') return cell
  const text = exactText(cell)
  return text === '' ? quotedEmpty : text
}

function lineFeedsIn(cell: CsvCell): number {
  if (typeof cell !== 'string') return 0
  // Not `split`: for a cell of a million line feeds it takes 30 ms.
  let count = 0
  for (let at = cell.indexOf('\n'); at >= 0 && at < cell.length; at++) if (cell.charCodeAt(at) === 10) count++
  return count
}

/** The field names of the first row. More columns than fields are rejected with the first that is one too many. */
class Header {
  readonly names: string[] = []
  readonly #resource: RowResource
  readonly #marked = new Set<number>()

  constructor(resource: RowResource) {
    this.#resource = resource
  }

  add(column: string, index: number): void {
    const name = fieldNameOf(this.#resource, column)
    this.names.push(name)
    if (name !== column) this.#marked.add(index)
    if (index >= this.#resource.fields.length) fieldIndexes(this.#resource, this.names, { isCut: true })
  }

  /** The cells of a row, with the texts of marked columns as they were exported. */
  exact(cells: readonly CsvCell[]): readonly CsvCell[] {
    if (this.#marked.size === 0) return cells
    return cells.map((cell, i) => (this.#marked.has(i) ? exactCell(cell) : cell))
  }
}

function tooManyCells(line: number): ImportError {
  return new ImportError(`The row that starts at line ${line} has more than ${limits.importCellsMax} cells.`)
}

/** Translates an error of csv-parse that ends the import; other errors are returned unchanged. */
function fileError(error: Error | CsvError, line: number): Error {
  const problem = 'code' in error ? fileProblems[error.code] : undefined
  return problem === undefined
    ? error
    : new ImportError(`The row that starts at line ${line} ${problem}`, { cause: error })
}

const misplacedQuote =
  'has a double quote inside a cell. Put the cell in double quotes, and double each quote inside it.'
const fileProblems: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a double quote that is never closed.',
  CSV_INVALID_CLOSING_QUOTE: misplacedQuote,
  INVALID_OPENING_QUOTE: misplacedQuote,
  CSV_MAX_RECORD_SIZE: `is longer than ${limits.importLineBytesMax} bytes. Check it for a double quote that is never closed.`,
}
