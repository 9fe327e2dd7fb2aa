/**
 * A seeded random number generator. Every case has its own, seeded by the run's seed and the number of the case, so that
 * a single case can be reproduced without the cases before it.
 */
export class Random {
  #state: number

  constructor(...seeds: readonly number[]) {
    let state = 0x9e3779b9
    for (const seed of seeds) state = mix((state ^ mix(seed | 0)) + 0x85ebca6b)
    this.#state = state
  }

  /** In [0, 1). mulberry32: 32 bits of state are plenty for one case. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    return (mix(this.#state) >>> 0) / 2 ** 32
  }

  /** From `min` to `max`, inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(from: readonly T[]): T {
    const index = Math.floor(this.next() * from.length)
    const picked = from[index]
    if (picked === undefined) throw new Error('nothing to pick from')
    return picked
  }

  shuffled<T>(from: readonly T[]): T[] {
    const places = from.map((value) => ({ place: this.next(), value }))
    return places.toSorted((a, b) => a.place - b.place).map(({ value }) => value)
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => this.integer(0, 9)).join('')
  }
}

function mix(value: number): number {
  let z = value | 0
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
  return z ^ (z >>> 15)
}
