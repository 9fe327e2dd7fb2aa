/** Returns the entry of `key`, which `create` computes on the first call. */
export function memoize<Key, Entry>(
  entries: { get(key: Key): Entry | undefined; set(key: Key, entry: Entry): unknown },
  key: Key,
  create: () => Entry,
): Entry {
  const existing = entries.get(key)
  if (existing !== undefined) return existing
  const entry = create()
  entries.set(key, entry)
  return entry
}
