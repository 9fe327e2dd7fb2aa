import { closeSync, openSync, writeSync } from 'node:fs'
import type { RowFault } from '../../import/row.ts'

/** A CSV file of the rejected lines and the reasons. It is created with the first one. */
export class RejectFile {
  readonly path: string
  #descriptor: number | undefined

  constructor(path: string) {
    this.path = path
  }

  add(faults: readonly RowFault[]): void {
    if (faults.length === 0) return
    if (this.#descriptor === undefined) {
      this.#descriptor = openSync(this.path, 'w')
      writeSync(this.#descriptor, 'line,field,reason,value\n')
    }
    // Written synchronously: with a stream, a file of which every row is rejected would be buffered in memory.
    writeSync(this.#descriptor, faults.map(csvLine).join(''))
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

function csvLine({ line, field, reason, value }: RowFault): string {
  return `${line},${quoted(field)},${quoted(reason)},${quoted(value)}\n`
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
