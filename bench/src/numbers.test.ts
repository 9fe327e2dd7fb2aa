import { expect, it } from 'vitest'
import { median, percentile, short, sum } from './numbers.ts'

it('the median is the middle one, or the mean of the two there', () => {
  expect(median([3, 1, 200])).toBe(3)
  expect(median([4, 1, 2, 300])).toBe(3)
  expect(median([7])).toBe(7)
  expect(() => median([])).toThrow('nothing was measured')
})

it('numbers are written with the digits that carry meaning', () => {
  expect([21_304.4, 153.2, 82.34, 8.249, 0.736].map(short)).toEqual(['21,304', '153', '82.3', '8.25', '0.74'])
  expect(sum([1, 2, 3])).toBe(6)
})

it('a percentile is the value that so many do not exceed', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect([50, 95, 99, 100].map((percent) => percentile(hundred, percent))).toEqual([50, 95, 99, 100])
  expect(percentile([7], 95)).toBe(7)
})
