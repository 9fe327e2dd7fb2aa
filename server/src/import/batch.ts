import type { RepeatedId } from './repeated-ids.ts'
import type { Row } from './row.ts'

/**
 * The lines of one transaction. A line whose id no other line has is a row to upsert or an id to delete. The lines of an id that
 * occurs several times stay separate, and so does a line with a condition: `foldLines` applies them one after the other, so the
 * result is the same however the lines of an input are divided into batches.
 */
export class Batch {
  readonly #byId = new Map<string, Row[]>()
  #size = 0
  #characters = 0

  /** The number of lines. */
  get size(): number {
    return this.#size
  }

  /** Of all cells. */
  get characters(): number {
    return this.#characters
  }

  add(row: Row): void {
    const id = row.cells[0] ?? ''
    const lines = this.#byId.get(id)
    if (lines === undefined) this.#byId.set(id, [row])
    else lines.push(row)
    this.#size += 1
    for (const cell of row.cells) this.#characters += cell?.length ?? 0
  }

  /** Rows to upsert, lines that delete, and the lines of repeated ids. */
  parts(): BatchParts {
    const parts = { rows: [] as Row[], deletes: [] as Row[], repeated: [] as RepeatedId[] }
    for (const [id, lines] of this.#byId) {
      const [first, second] = lines
      if (first === undefined) continue
      if (second !== undefined || first.ifMatch !== undefined) parts.repeated.push({ id, lines })
      else if (first.isDelete === true) parts.deletes.push(first)
      else parts.rows.push(first)
    }
    return parts
  }
}

export interface BatchParts {
  readonly rows: readonly Row[]
  readonly deletes: readonly Row[]
  readonly repeated: readonly RepeatedId[]
}
