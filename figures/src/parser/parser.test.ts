import { type Filter, FilterError, filterBounds, parse } from '@quartermaster/filter'
import { describe, expect, it } from 'vitest'
import { Random } from '../random.ts'
import { ratioOf } from './linear.ts'
import { difference, randomFilterTree } from './print-identity.ts'
import { check, randomString } from './strings.ts'

const problemAt = (offset: number, length: number) => () => {
  throw new FilterError({ code: 'filter_unexpected', message: '', offset, length, expected: [] })
}

const quadratic: typeof parse = (text) => {
  let sum = 0
  for (let i = 0; i < text.length; i += 1) for (let j = 0; j < text.length; j += 1) sum += i ^ j
  return parse(`a=${sum}`)
}

describe('the check of a string', () => {
  it('takes what is read, and what is refused within its bounds', () => {
    expect(check('name=1')).toBe('read')
    expect(check('name')).toBe('refused')
    expect(check('abc', problemAt(3, 0))).toBe('refused')
  })

  it.each<[string, () => Filter]>([
    [
      'another error',
      () => {
        throw new RangeError('too deep')
      },
    ],
    ['an offset outside', problemAt(4, 0)],
    ['an end outside', problemAt(3, 1)],
    ['a negative offset', problemAt(-1, 0)],
    ['an offset that is none', problemAt(Number.NaN, 0)],
  ])('tells %s', (_what, read) => {
    expect(['read', 'refused']).not.toContain(check('abc', read))
  })

  it('meets strings of both kinds', () => {
    const verdicts = Array.from({ length: 300 }, (_, index) => check(randomString(new Random(1, index))))
    expect(new Set(verdicts)).toEqual(new Set(['read', 'refused']))
  })
})

it('finds no difference in 200 trees, and one where a value cannot be written', () => {
  for (let index = 0; index < 200; index += 1)
    expect(difference(randomFilterTree(new Random(2, index)))).toBeUndefined()
  const nameless = randomFilterTree(new Random(2, 1))
  expect(difference({ kind: 'and', terms: [nameless], offset: 0, length: 0 })).toBeDefined()
})

it('shows a quadratic reader by its ratio', () => {
  expect(ratioOf('x'.repeat(500), 'x'.repeat(4000), filterBounds, 5, quadratic)).toBeGreaterThan(3)
  expect(ratioOf('a='.padEnd(8000, 'x'), 'a='.padEnd(64_000, 'x'), filterBounds, 9)).toBeLessThan(3)
})
