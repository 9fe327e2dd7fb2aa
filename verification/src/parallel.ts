/** Runs `work` for 0 … count − 1, `width` at a time. After an error it starts no more, waits for those in flight, and throws. */
export async function inParallel(
  count: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  let failed = false
  const worker = async () => {
    while (next < count && !failed) {
      const index = next
      next += 1
      try {
        await work(index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(width, count) }, worker))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
