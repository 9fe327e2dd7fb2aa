/** Caches the results of `read`, and clears the cache when it is full. */
export function memoize<T>(read: (text: string) => T, entriesMax = 100_000): (text: string) => T {
  const cache = new Map<string, T>()
  return (text) => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    if (cache.size === entriesMax) cache.clear()
    const value = read(text)
    cache.set(text, value)
    return value
  }
}
