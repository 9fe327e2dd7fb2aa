import type { Field } from '../../catalog/field.ts'
import { markedName } from '../../query/spreadsheet-form.ts'
import type { ExportFormat } from '../../query/sql/export-statement.ts'
import { stateName, type TallyState } from '../../tally-state.ts'

/** The output of COPY, from one snapshot. */
export interface ExportSource extends TallyState {
  readonly chunks: AsyncIterable<Buffer>
  /** Called after the last chunk. Returns the number of records; rejects if the export is incomplete. */
  finish(): Promise<number>
}

/** The complete body of an export. In NDJSON the last line states that it is complete. */
export async function* exportBody(
  source: ExportSource,
  format: ExportFormat,
  fields: readonly Field[],
  onEnd: (count: number) => void,
): AsyncGenerator<Buffer> {
  if (format !== 'ndjson') yield header(fields, format)
  const convert = format === 'ndjson' ? (chunk: Buffer) => chunk : crlfRowEnds()
  for await (const chunk of source.chunks) yield convert(chunk)
  const count = await source.finish()
  onEnd(count)
  if (format === 'ndjson') yield endRecord(count, source)
}

/** Excel reads the file as UTF-8 only with a byte order mark. */
function header(fields: readonly Field[], format: 'csv' | 'spreadsheet'): Buffer {
  const names = fields.map((field) => (format === 'spreadsheet' ? markedName(field) : field.name))
  return Buffer.from(`\uFEFF${names.join(',')}\r\n`)
}

/** No field name begins with `$`, so this line differs from every record. */
function endRecord(count: number, state: TallyState): Buffer {
  return Buffer.from(`${JSON.stringify({ $end: { count, version: stateName(state) } })}\n`)
}

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** COPY ends rows with LF; RFC 4180 requires CRLF. Line breaks within quotes are part of the text and stay unchanged. */
export function crlfRowEnds(): (chunk: Buffer) => Buffer {
  let inQuotes = false
  return (chunk) => {
    const out = Buffer.allocUnsafe(chunk.length + countLineFeeds(chunk))
    let at = 0
    // By index: an iterator would allocate an object for each of a hundred million bytes.
    for (let from = 0; from < chunk.length; from++) {
      const byte = chunk[from] ?? 0
      if (byte === quote) inQuotes = !inQuotes
      else if (byte === lineFeed && !inQuotes) out[at++] = carriageReturn
      out[at++] = byte
    }
    return out.subarray(0, at)
  }
}

/** In CSV this is at least the number of rows: a line feed within quotes ends no row. */
export function countLineFeeds(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) count++
  return count
}
