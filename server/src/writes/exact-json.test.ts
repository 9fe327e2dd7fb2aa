import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFlat, repeatedName, scanObject } from './exact-json.ts'

const scalar = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null))

describe('the scan of an object', () => {
  it('finds the names that JSON.parse finds', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), scalar),
        fc.constantFrom(undefined, 1, '\t'),
        (object, space) => {
          const text = ` \n${JSON.stringify(object, null, space)}`
          expect(scanObject(text, 100)).toEqual({
            names: Object.keys(JSON.parse(text)),
            nested: undefined,
            isTooLong: false,
          })
        },
      ),
    )
  })
  it('finds every nested value, wherever it is', () => {
    const nested = fc.oneof(fc.array(scalar), fc.dictionary(fc.string(), scalar))
    fc.assert(
      fc.property(fc.dictionary(fc.string(), scalar), nested, scalar, (object, value, last) => {
        const text = JSON.stringify({ ...object, '!nested': value, '!last': last })
        const scan = scanObject(text, 1000)
        expect(scan?.nested?.name).toBe('!nested')
        expect(text.slice(scan?.nested?.offset).startsWith(JSON.stringify(value))).toBe(true)
        expect(isFlat(text, 1000)).toBe(false)
      }),
    )
  })
  it('ends at the first member that is one too many', () => {
    expect(scanObject('{"a":1,"b":2,"c":3,"d":4}', 2)).toEqual({
      names: ['a', 'b', 'c'],
      nested: undefined,
      isTooLong: true,
    })
  })
  it('of any other text ends', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '"', '\\', ':', ',', 'a', '[', '}', ' ') }),
        (text) => {
          scanObject(text, 5)
        },
      ),
    )
    for (const text of ['', '[1]', '7', '"{"', 'null']) expect(scanObject(text, 5)).toBeUndefined()
  })
})

it('the first name that occurs twice', () => {
  expect(repeatedName(['a', 'b', 'a', 'b'])).toBe('a')
  expect(repeatedName(['a', 'b'])).toBeUndefined()
})
