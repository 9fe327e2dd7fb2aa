import { expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { EventLoopShares } from '../scheduler/shares.ts'
import { batchRows } from './batch-input.ts'

async function* body(bytes: Buffer) {
  yield bytes
}

/** Counts the iterations of the event loop while the rows of the bytes are read by a consumer that takes 2 ms for each chunk. */
async function iterationsWhile(bytes: Buffer): Promise<{ iterations: number; chunks: number }> {
  let iterations = 0
  let immediate = setImmediate(function count() {
    iterations += 1
    immediate = setImmediate(count)
  })
  let chunks = 0
  const shares = new EventLoopShares()
  const format = { format: 'ndjson', isGzipped: false, nextSlice: () => shares.next('1') } as const
  for await (const _ of batchRows(resources.product, body(bytes), format)) {
    chunks += 1
    const end = performance.now() + 2
    while (performance.now() < end);
  }
  clearImmediate(immediate)
  return { iterations, chunks }
}

it('other requests are served every few milliseconds of parsing, however few bytes that is', async () => {
  const { iterations, chunks } = await iterationsWhile(Buffer.from('{}\n'.repeat(5_000)))
  // Of 100 lines each, and the end.
  expect(chunks).toBe(51)
  // 102 ms of parsing, in slices of at most 5 ms and one chunk.
  expect(iterations).toBeGreaterThanOrEqual(12)
})
