import { closeSync, openSync, writeSync } from 'node:fs'
import type { RowFault } from '../../import/row.ts'
import { spreadsheetText } from '../../query/spreadsheet-form.ts'

/**
 * A CSV file of the rejected lines and the reasons, created with the first one. People open it, so it has the form for spreadsheets:
 * a rejected value may be a formula. An empty cell stays empty, because nothing imports this file.
 */
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
      writeSync(this.#descriptor, "line,'field,'reason,'value\n")
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
  const cell = text === '' ? '' : spreadsheetText(text)
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
