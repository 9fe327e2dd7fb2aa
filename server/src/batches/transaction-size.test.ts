import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { TransactionSize } from './transaction-size.ts'

const { batchRows, batchRowsMin, batchTransactionMs } = limits

it('rows share a transaction that ends in time, however slow the database is', () => {
  const size = new TransactionSize()
  expect(size.rows).toBe(batchRows)
  // A row takes 8 ms.
  for (let i = 0; i < 3; i++) {
    size.ended(size.rows, size.rows * 8)
    expect(size.rows * 8).toBeLessThanOrEqual(batchTransactionMs)
  }
  size.ended(size.rows, 3_600_000)
  expect(size.rows).toBe(batchRowsMin)
})

it('the number grows again with transactions that have all rows and are fast', () => {
  const size = new TransactionSize()
  size.ended(batchRows, 100 * batchTransactionMs)
  size.ended(1, 1)
  expect(size.rows).toBe(batchRowsMin)
  for (let i = 0; i < 10; i++) size.ended(size.rows, batchTransactionMs / 4)
  expect(size.rows).toBe(batchRows)
})
