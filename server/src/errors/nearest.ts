/** The name that was probably meant: within an edit distance of two, and of half the length of `name`. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.min(2, Math.floor(name.length / 2)) + 1
  for (const candidate of names) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(lower.length - candidate.length) >= bestDistance) continue
    const distance = editDistance(lower, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions, substitutions and swaps of adjacent letters (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let older: number[] = []
  let old = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (older[j - 2] ?? 0) + 1)
      }
      row.push(least)
    }
    older = old
    old = row
  }
  return old[b.length] ?? 0
}
