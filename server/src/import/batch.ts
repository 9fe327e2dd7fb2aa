import type { Row } from './row.ts'

/**
 * The lines of one transaction. A line whose record no other line names is a row to upsert or a record to delete. The lines of a record
 * that is named several times stay separate, and so does a line with a condition: `Fold` applies them one after the other, so the
 * result is the same however the lines of an input are divided into batches.
 */
export class Batch {
  readonly #byAddress = new Map<string, Row[]>()
  /** The position of the cell that names the record. */
  readonly #index: number
  #size = 0
  #characters = 0

  constructor(index: number) {
    this.#index = index
  }

  /** The number of lines. */
  get size(): number {
    return this.#size
  }

  /** Of all cells. */
  get characters(): number {
    return this.#characters
  }

  add(row: Row): void {
    const address = row.cells[this.#index] ?? ''
    const lines = this.#byAddress.get(address)
    if (lines === undefined) this.#byAddress.set(address, [row])
    else lines.push(row)
    this.#size += 1
    for (const cell of row.cells) this.#characters += cell?.length ?? 0
  }

  /** Rows to upsert, lines that delete, and those that must take effect in their order. */
  parts(): BatchParts {
    const parts = { rows: [] as Row[], deletes: [] as Row[], ordered: [] as Row[] }
    for (const lines of this.#byAddress.values()) {
      const [first, second] = lines
      if (first === undefined) continue
      if (second !== undefined || first.ifMatch !== undefined) parts.ordered.push(...lines)
      else if (first.isDelete === true) parts.deletes.push(first)
      else parts.rows.push(first)
    }
    return { ...parts, ordered: inOrder(parts.ordered) }
  }
}

export interface BatchParts {
  readonly rows: readonly Row[]
  readonly deletes: readonly Row[]
  readonly ordered: readonly Row[]
}

/** All rows and deletions of a batch in their order. */
export function orderedParts({ rows, deletes, ordered }: BatchParts): BatchParts {
  return { rows: [], deletes: [], ordered: inOrder([...rows, ...deletes, ...ordered]) }
}

function inOrder(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => a.line - b.line)
}
