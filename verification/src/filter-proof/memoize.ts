/** The same function, that keeps what it found for the last texts it was given. */
export function memoize<T>(read: (text: string) => T, most = 100_000): (text: string) => T {
  const kept = new Map<string, T>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    if (kept.size === most) kept.clear()
    const made = read(text)
    kept.set(text, made)
    return made
  }
}
