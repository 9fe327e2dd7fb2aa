import { closeSync, openSync, writeSync } from 'node:fs'
import type { RowFault } from './row.ts'

/** The lines that were not taken, and why; a file that exists only if there are any. */
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
    // Written at once and not queued: a file of nothing but rejects takes no more memory than a good one.
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
