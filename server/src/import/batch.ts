import type { Row } from './row.ts'

/** Rows to be written together, each id once: a later line of the same id is laid over the earlier one. */
export class Batch {
  readonly rows: (string | undefined)[][] = []
  /** The line of each row: of several with its id, the last. */
  readonly lines: number[] = []
  /** Lines that changed what an earlier line of the batch said, and lines that said the same again. */
  repeatsChanged = 0
  repeatsUnchanged = 0
  readonly #places = new Map<string, number>()

  add({ line, cells }: Row): void {
    const id = cells[0] ?? ''
    const place = this.#places.get(id)
    const earlier = place === undefined ? undefined : this.rows[place]
    if (earlier === undefined) {
      this.#places.set(id, this.rows.length)
      this.rows.push(cells)
      this.lines.push(line)
      return
    }
    if (place !== undefined) this.lines[place] = line
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
