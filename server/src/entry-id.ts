import { randomBytes } from 'node:crypto'

const process36 = Number.parseInt(randomBytes(5).toString('hex'), 16).toString(36).padStart(8, '0')
let count = 0

/**
 * Names an entry of a log, anywhere: the moment, the process that made it, and a count, all in base 36, so that text
 * order is the order of time. No sequence: those of one account would have to be fetched from the database.
 */
export function newEntryId(atMs: number): string {
  count = (count + 1) % 36 ** 4
  return `${atMs.toString(36).padStart(9, '0')}${process36}${count.toString(36).padStart(4, '0')}`
}
