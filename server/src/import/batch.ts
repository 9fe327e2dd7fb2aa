import type { Row } from './row.ts'

/**
 * The rows of one transaction. Each id occurs once: a later line with the same id is merged over the earlier one. A batch does not
 * both write and delete a record, so that lines take effect in their order.
 */
export class Batch {
  readonly rows: (string | undefined)[][] = []
  /** The ids of the records to delete. */
  readonly deletes: string[] = []
  /** The line number of each row; if several lines had its id, of the last one. */
  readonly lines: number[] = []
  /** Lines that repeat an id of this batch: with other values, or with the same ones. */
  repeatsChanged = 0
  repeatsUnchanged = 0
  readonly #rowIndexes = new Map<string, number>()
  readonly #deleted = new Set<string>()

  get size(): number {
    return this.rows.length + this.deletes.length
  }

  /** Whether the row belongs to the next batch, because this one has the opposite change of the same record. */
  conflictsWith({ cells, isDelete }: Row): boolean {
    const id = cells[0] ?? ''
    return isDelete === true ? this.#rowIndexes.has(id) : this.#deleted.has(id)
  }

  add({ line, cells, isDelete }: Row): void {
    const id = cells[0] ?? ''
    if (isDelete === true) {
      this.#addDelete(id)
      return
    }
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

  #addDelete(id: string): void {
    if (this.#deleted.has(id)) {
      this.repeatsUnchanged += 1
      return
    }
    this.#deleted.add(id)
    this.deletes.push(id)
  }
}
