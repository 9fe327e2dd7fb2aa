import { describe, expect, it } from 'vitest'
import { KeyMap, NumberMap } from './number-map.ts'

describe('NumberMap', () => {
  it('does what a Map does, in any order of 200,000 random steps', () => {
    const [map, expected] = [new NumberMap(), new Map<number, number>()]
    let state = 1
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    for (let step = 0; step < 200_000; step++) {
      // Near each other, and in two ranges, as ids are; keys of both meet at the same places.
      const key = random(3_000) + random(2) * 2 ** 32
      if (random(3) > 0) {
        const value = random(2 ** 30) * 2 ** 18
        map.set(key, value)
        expected.set(key, value)
      } else {
        map.delete(key)
        expected.delete(key)
      }
      if (step % 20_000 > 0) continue
      expect(map.size).toBe(expected.size)
      expect([...map.keys()].toSorted((a, b) => a - b)).toEqual(
        [...expected.keys()].toSorted((a, b) => a - b),
      )
      for (const [one, value] of expected) expect(map.get(one)).toBe(value)
    }
    expect(map.get(9_999)).toBeUndefined()
    map.clear()
    expect([map.size, [...map.keys()]]).toEqual([0, []])
  })
})

it('KeyMap keeps numbers and texts apart', () => {
  const map = new KeyMap()
  map.set(7, 1)
  map.set('7', 2)
  expect([map.get(7), map.get('7'), map.size, [...map.keys()]]).toEqual([1, 2, 2, [7, '7']])
  map.delete(7)
  expect([map.has(7), map.has('7')]).toEqual([false, true])
})
