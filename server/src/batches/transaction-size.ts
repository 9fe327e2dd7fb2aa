import { limits } from '../limits/limits.ts'

/**
 * How many rows of a batch share a transaction. Where the database needs long for them, such as scattered records of a large account
 * that are not in its memory, it becomes fewer, so that a transaction ends well before its timeout. It grows again when they are fast.
 */
export class TransactionSize {
  #rows: number = limits.batchRows

  get rows(): number {
    return this.#rows
  }

  /** A transaction of `rows` has ended after `ms`. */
  ended(rows: number, ms: number): void {
    if (ms > limits.batchTransactionMs) {
      const inTime = Math.floor((rows * limits.batchTransactionMs) / ms)
      this.#rows = Math.max(limits.batchRowsMin, Math.min(this.#rows, inTime))
    } else if (rows >= this.#rows && ms < limits.batchTransactionMs / 2) {
      this.#rows = Math.min(limits.batchRows, this.#rows * 2)
    }
  }
}
