import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'
import type { Statement } from '../sql.ts'

/** One message of the protocol each: large enough to be few, small enough for the socket to take at once. */
const pieceLines = 500

/** Sends lines in COPY's text form. */
export async function copyIn(
  client: pg.ClientBase,
  { text }: Statement,
  lines: readonly string[],
): Promise<void> {
  await pipeline(Readable.from(pieces(lines), { objectMode: true }), client.query(from(text)))
}

function* pieces(lines: readonly string[]): Generator<string> {
  for (let start = 0; start < lines.length; start += pieceLines) {
    yield `${lines.slice(start, start + pieceLines).join('\n')}\n`
  }
}
