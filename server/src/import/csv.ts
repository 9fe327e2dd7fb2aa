import { type CsvError, parse } from 'csv-parse'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import { ImportError, placesOf } from './columns.ts'
import { ChunkBuilder, type CsvCell, quotedEmpty, type RowChunk } from './row.ts'

/** The rows of a CSV file with a header, a piece of the file at a time. */
export async function* csvRows(resource: Resource, bytes: AsyncIterable<Buffer>): AsyncGenerator<RowChunk> {
  let columns: number[] | undefined
  // Counted here: csv-parse takes a \r\n within quotes for two lines.
  let line = 1
  let chunk = new ChunkBuilder(resource)
  const parser = parse({
    bom: true,
    relax_column_count: true,
    max_record_size: limits.importLineBytesMax,
    // The one way to learn of the quotes. It doubles the time of parsing, to 15 µs a row; writing takes over 100.
    cast: (text, { quoting }) => (quoting && text === '' ? quotedEmpty : text),
    // Called within `write`, one record after the other; null keeps the record off the parser's readable side.
    on_record: (record: readonly CsvCell[]) => {
      const start = line
      line += 1 + record.reduce((sum, cell) => sum + newlines(cell), 0)
      if (columns === undefined) columns = placesOf(resource, record.map(textOf))
      else if (record.length > 1 || record[0] !== '') chunk.addCsv(start, columns, record)
      return null
    },
  })
  const write = (piece: Buffer | undefined) =>
    new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null) => (error ? reject(located(error, line)) : resolve())
      if (piece === undefined) parser.once('error', done).end(() => done())
      else parser.write(piece, done)
    })
  // Errors arrive in the callback of the write that met them.
  parser.on('error', () => {})
  for await (const piece of bytes) {
    await write(piece)
    yield chunk
    chunk = new ChunkBuilder(resource)
  }
  await write(undefined)
  yield chunk
  if (columns === undefined)
    throw new ImportError('The file is empty: it has not even a header. Nothing was written.')
}

function newlines(cell: CsvCell): number {
  if (typeof cell !== 'string' || !cell.includes('\n')) return 0
  return cell.split('\n').length - 1
}

function textOf(cell: CsvCell): string {
  return typeof cell === 'string' ? cell : ''
}

/** What is wrong with the file as a whole, in words that do not need the parser's manual. */
function located(error: Error | CsvError, line: number): Error {
  const problem = 'code' in error ? fileProblems[error.code] : undefined
  return problem === undefined
    ? error
    : new ImportError(`The row of line ${line} ${problem}`, { cause: error })
}

const misplacedQuote = 'has a double quote inside a cell. Put the cell in quotes, and double those within.'
const fileProblems: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'opens a double quote that is not closed before the file ends.',
  CSV_INVALID_CLOSING_QUOTE: misplacedQuote,
  INVALID_OPENING_QUOTE: misplacedQuote,
  CSV_MAX_RECORD_SIZE: `is longer than ${limits.importLineBytesMax} bytes; a double quote may be open there.`,
}
