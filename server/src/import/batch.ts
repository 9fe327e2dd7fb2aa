import type { Row } from './row.ts'

/** The rows of one transaction. Each id occurs once: a later line with the same id is merged over the earlier one. */
export class Batch {
  readonly rows: (string | undefined)[][] = []
  /** The line number of each row; if several lines had its id, of the last one. */
  readonly lines: number[] = []
  /** Lines that repeat an id of this batch: with other values, or with the same ones. */
  repeatsChanged = 0
  repeatsUnchanged = 0
  readonly #rowIndexes = new Map<string, number>()

  add({ line, cells }: Row): void {
    const id = cells[0] ?? ''
    const index = this.#rowIndexes.get(id)
    const earlier = index === undefined ? undefined : this.rows[index]
    if (earlier === undefined) {
      this.#rowIndexes.set(id, this.rows.length)
      this.rows.push(cells)
      this.lines.push(line)
      return
    }
    if (index !== undefined) this.lines[index] = line
    let changed = false
    cells.forEach((cell, i) => {
      if (cell === undefined || cell === earlier[i]) return
      earlier[i] = cell
      changed = true
    })
    if (changed) this.repeatsChanged += 1
    else this.repeatsUnchanged += 1
  }
}
