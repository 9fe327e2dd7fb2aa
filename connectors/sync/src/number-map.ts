import type { Key } from './values.ts'

const fullMax = 0.75

/**
 * Numbers by numbers, 16 bytes for each place: a Map needs four times that, because it keeps every number above 2^31 as an object. Open
 * addressing with linear probing; a place is empty if its key is NaN.
 */
export class NumberMap {
  #keys = emptied(64)
  #values = new Float64Array(64)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): number | undefined {
    const at = this.#placeOf(key)
    return this.#keys[at] === key ? this.#values[at] : undefined
  }

  set(key: number, value: number): void {
    if (this.#size + 1 > this.#keys.length * fullMax) this.#grow()
    const at = this.#placeOf(key)
    if (this.#keys[at] !== key) this.#size++
    this.#keys[at] = key
    this.#values[at] = value
  }

  delete(key: number): void {
    let at = this.#placeOf(key)
    if (this.#keys[at] !== key) return
    this.#size--
    const { length } = this.#keys
    // Entries that were moved on because of this one move back.
    for (let next = (at + 1) % length; ; next = (next + 1) % length) {
      const other = this.#keys[next] ?? Number.NaN
      if (Number.isNaN(other)) break
      const wanted = this.#first(other)
      const isBetween = at <= next ? at < wanted && wanted <= next : at < wanted || wanted <= next
      if (isBetween) continue
      this.#keys[at] = other
      this.#values[at] = this.#values[next] ?? 0
      at = next
    }
    this.#keys[at] = Number.NaN
  }

  clear(): void {
    this.#keys = emptied(64)
    this.#values = new Float64Array(64)
    this.#size = 0
  }

  *keys(): Generator<number, void, undefined> {
    for (const key of this.#keys) if (!Number.isNaN(key)) yield key
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values]
    this.#keys = emptied(Math.ceil(keys.length * 1.6))
    this.#values = new Float64Array(this.#keys.length)
    for (const [from, key] of keys.entries()) {
      if (Number.isNaN(key)) continue
      const at = this.#placeOf(key)
      this.#keys[at] = key
      this.#values[at] = values[from] ?? 0
    }
  }

  /** Where the key is, or where it would be. */
  #placeOf(key: number): number {
    let at = this.#first(key)
    for (let found = this.#keys[at]; found !== key && !Number.isNaN(found); found = this.#keys[at])
      at = at + 1 === this.#keys.length ? 0 : at + 1
    return at
  }

  /** Successive ids are spread over all places. */
  #first(key: number): number {
    const mixed = Math.imul(key ^ Math.floor(key / 2 ** 32), 0x9e3779b1) >>> 0
    return Math.floor((mixed / 2 ** 32) * this.#keys.length)
  }
}

function emptied(length: number): Float64Array {
  return new Float64Array(length).fill(Number.NaN)
}

/** The same for keys that are numbers or texts. */
export class KeyMap {
  readonly #numbers = new NumberMap()
  readonly #texts = new Map<string, number>()

  get size(): number {
    return this.#numbers.size + this.#texts.size
  }

  get(key: Key): number | undefined {
    return typeof key === 'number' ? this.#numbers.get(key) : this.#texts.get(key)
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined
  }

  set(key: Key, value: number): void {
    if (typeof key === 'number') this.#numbers.set(key, value)
    else this.#texts.set(key, value)
  }

  delete(key: Key): void {
    if (typeof key === 'number') this.#numbers.delete(key)
    else this.#texts.delete(key)
  }

  clear(): void {
    this.#numbers.clear()
    this.#texts.clear()
  }

  *keys(): Generator<Key, void, undefined> {
    yield* this.#numbers.keys()
    yield* this.#texts.keys()
  }
}

/** The keys of a source, of which there may be a million. */
export class KeySet {
  readonly #map = new KeyMap()

  get size(): number {
    return this.#map.size
  }

  add(key: Key): void {
    this.#map.set(key, 1)
  }

  has(key: Key): boolean {
    return this.#map.has(key)
  }

  keys(): Generator<Key, void, undefined> {
    return this.#map.keys()
  }
}

/** Keys by the ids of their records here. */
export class KeysById {
  readonly #numbers = new NumberMap()
  readonly #texts = new Map<number, string>()

  get(id: number): Key | undefined {
    return this.#numbers.get(id) ?? this.#texts.get(id)
  }

  set(id: number, key: Key): void {
    this.delete(id)
    if (typeof key === 'number') this.#numbers.set(id, key)
    else this.#texts.set(id, key)
  }

  delete(id: number): void {
    this.#numbers.delete(id)
    this.#texts.delete(id)
  }

  clear(): void {
    this.#numbers.clear()
    this.#texts.clear()
  }
}
