import { type Filter, FilterError } from '@quartermaster/filter'
import { describe, expect, it } from 'vitest'
import { Random } from '../random.ts'
import { difference, randomFilterTree } from './print-identity.ts'
import { checkString, randomString } from './strings.ts'

const problemAt = (offset: number, length: number) => () => {
  throw new FilterError({ code: 'filter_unexpected', message: '', offset, length, expected: [] })
}

describe('checkString', () => {
  it('accepts a parsed string, and a FilterError with a span inside the string', () => {
    expect(checkString('name=1')).toBe('parsed')
    expect(checkString('name')).toBe('rejected')
    expect(checkString('abc', problemAt(3, 0))).toBe('rejected')
  })

  it.each<[string, () => Filter]>([
    [
      'an error of another class',
      () => {
        throw new RangeError('too deep')
      },
    ],
    ['an offset outside the string', problemAt(4, 0)],
    ['an end outside the string', problemAt(3, 1)],
    ['a negative offset', problemAt(-1, 0)],
    ['an offset that is not a number', problemAt(Number.NaN, 0)],
  ])('reports %s', (_what, read) => {
    expect(['parsed', 'rejected']).not.toContain(checkString('abc', read))
  })

  it('is run on both valid and invalid strings', () => {
    const verdicts = Array.from({ length: 300 }, (_, index) =>
      checkString(randomString(new Random(1, index))),
    )
    expect(new Set(verdicts)).toEqual(new Set(['parsed', 'rejected']))
  })
})

it('finds no difference in 200 trees, and one in a tree that cannot be printed', () => {
  for (let index = 0; index < 200; index += 1)
    expect(difference(randomFilterTree(new Random(2, index)))).toBeUndefined()
  const single = randomFilterTree(new Random(2, 1))
  expect(difference({ kind: 'and', terms: [single], offset: 0, length: 0 })).toBeDefined()
})
