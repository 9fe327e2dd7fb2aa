import type { Field } from '../../catalog/field.ts'
import type { ExportFormat } from '../../query/sql/export-statement.ts'
import { stateName, type TallyState } from '../../tally-state.ts'

/** Records as COPY writes them, of one state. */
export interface ExportSource extends TallyState {
  readonly pieces: AsyncIterable<Buffer>
  /** After the last piece: how many records there were, now that it is sure that these are all. */
  finish(): Promise<number>
}

/** The whole of an export, from the first byte to the mark that it is whole. */
export async function* exportBody(
  source: ExportSource,
  format: ExportFormat,
  fields: readonly Field[],
  onEnd: (count: number) => void,
): AsyncGenerator<Buffer> {
  if (format === 'csv') yield header(fields)
  const written = format === 'csv' ? crlfRowEnds() : (piece: Buffer) => piece
  for await (const piece of source.pieces) yield written(piece)
  const count = await source.finish()
  onEnd(count)
  if (format === 'ndjson') yield endRecord(count, source)
}

/** The byte order mark tells Excel that it is UTF-8. */
function header(fields: readonly Field[]): Buffer {
  return Buffer.from(`\uFEFF${fields.map((field) => field.name).join(',')}\r\n`)
}

/** A name of a field never begins with `$`, so no record looks like this. */
function endRecord(count: number, state: TallyState): Buffer {
  return Buffer.from(`${JSON.stringify({ $end: { count, version: stateName(state) } })}\n`)
}

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** COPY ends rows with LF, RFC 4180 with CRLF. A line break within quotes belongs to the text and stays as it is. */
export function crlfRowEnds(): (piece: Buffer) => Buffer {
  let inQuotes = false
  return (piece) => {
    const out = Buffer.allocUnsafe(piece.length + countLineFeeds(piece))
    let at = 0
    // By index: an iterator makes an object for each of a hundred million bytes.
    for (let from = 0; from < piece.length; from++) {
      const byte = piece[from] ?? 0
      if (byte === quote) inQuotes = !inQuotes
      else if (byte === lineFeed && !inQuotes) out[at++] = carriageReturn
      out[at++] = byte
    }
    return out.subarray(0, at)
  }
}

/** In CSV, a text of two lines has one that ends no row. */
export function countLineFeeds(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, at + 1)) count++
  return count
}
