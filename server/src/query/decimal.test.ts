import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDecimals } from './decimal.ts'

describe('compareDecimals', () => {
  it('sorts numbers by value in any notation', () => {
    const ordered = [
      '-1e1000',
      '-10',
      '-9.99',
      '-1',
      '-1e-5',
      '0',
      '1e-1000',
      '0.1',
      '0.11',
      '1',
      '9',
      '10',
      '1e1000',
    ]
    const shuffled = ordered.toReversed()
    expect(shuffled.toSorted(compareDecimals)).toEqual(ordered)
  })

  it.each([
    ['0', '-0'],
    ['0', '0.000'],
    ['0', '0e900'],
    ['1', '1.0'],
    ['100', '1e2'],
    ['0.01', '1e-2'],
    ['-2.50', '-25e-1'],
    ['12.5E+1', '125'],
  ])('%s and %s are equal', (a, b) => {
    expect(compareDecimals(a, b) === 0 && compareDecimals(b, a) === 0).toBe(true)
  })

  it('agrees with exact fractions', () => {
    const number = fc.tuple(fc.bigInt(-(10n ** 20n), 10n ** 20n), fc.integer({ min: -30, max: 30 }))
    const exact = ([digits, exponent]: readonly [bigint, number]) => digits * 10n ** BigInt(exponent + 30)
    fc.assert(
      fc.property(number, number, (a, b) => {
        // Equal negative numbers compare as -0; adding 0 makes it 0.
        const sign = Math.sign(compareDecimals(`${a[0]}e${a[1]}`, `${b[0]}e${b[1]}`)) + 0
        expect(sign).toBe(exact(a) < exact(b) ? -1 : exact(a) > exact(b) ? 1 : 0)
      }),
    )
  })
})
