import { type Filter, FilterError } from '@quartermaster/filter'
import { describe, expect, it } from 'vitest'
import { Random } from '../random.ts'
import { difference, randomFilterTree } from './print-identity.ts'
import { check, randomString } from './strings.ts'

const problemAt = (offset: number, length: number) => () => {
  throw new FilterError({ code: 'filter_unexpected', message: '', offset, length, expected: [] })
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
