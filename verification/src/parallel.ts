/** Runs `work` for 0 … count − 1, `width` at a time. The first error ends it once the ones under way are done. */
export async function inParallel(
  count: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  let failed = false
  const lane = async () => {
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
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(width, count) }, lane))
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason
}
