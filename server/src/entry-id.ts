import { randomBytes } from 'node:crypto'

const processId = Number.parseInt(randomBytes(5).toString('hex'), 16).toString(36).padStart(8, '0')
let count = 0

/**
 * A unique id of a log entry: time, process and counter in base 36, so that ids sort by time. Not a database sequence,
 * which would need a round trip per entry.
 */
export function newEntryId(atMs: number): string {
  count = (count + 1) % 36 ** 4
  return `${entryIdAt(atMs)}${processId}${count.toString(36).padStart(4, '0')}`
}

/** What the ids of this time begin with: those after it are greater. */
export function entryIdAt(atMs: number): string {
  return atMs.toString(36).padStart(9, '0')
}
