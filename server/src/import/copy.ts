import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'
import type { Statement } from '../sql.ts'

/** Lines per CopyData message: large enough for low overhead, small enough for one socket write. */
const messageLines = 500

/** Runs `COPY … FROM STDIN`. The lines are in COPY's text format. */
export async function copyIn(
  client: pg.ClientBase,
  { text }: Statement,
  lines: readonly string[],
): Promise<void> {
  await pipeline(Readable.from(messages(lines), { objectMode: true }), client.query(from(text)))
}

function* messages(lines: readonly string[]): Generator<string> {
  for (let start = 0; start < lines.length; start += messageLines) {
    yield `${lines.slice(start, start + messageLines).join('\n')}\n`
  }
}
