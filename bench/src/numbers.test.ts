import { expect, it } from 'vitest'
import { median, medianOfRatios, percentile, short, sum } from './numbers.ts'

it('median: the middle value, or the mean of the two middle values', () => {
  expect(median([3, 1, 200])).toBe(3)
  expect(median([4, 1, 2, 300])).toBe(3)
  expect(median([7])).toBe(7)
  expect(() => median([])).toThrow('no measurements')
})

it('medianOfRatios: of pairs, so that an interval on a slow machine does not count more', () => {
  expect(medianOfRatios([10, 1, 30], [5, 0.5, 10])).toBe(2)
  expect(() => medianOfRatios([1], [])).toThrow('1 values for 0 others')
})

it('short: three significant digits', () => {
  expect([21_304.4, 153.2, 82.34, 8.249, 0.736].map(short)).toEqual(['21,304', '153', '82.3', '8.25', '0.74'])
  expect(sum([1, 2, 3])).toBe(6)
})

it('percentile: the value that this percentage of values does not exceed', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect([50, 95, 99, 100].map((percent) => percentile(hundred, percent))).toEqual([50, 95, 99, 100])
  expect(percentile([7], 95)).toBe(7)
})
