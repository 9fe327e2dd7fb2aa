import { type Filter, parse, print, type Value } from '@quartermaster/filter'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Condition, fieldsOf } from './condition.ts'
import { FilterText, filter } from './template.ts'
import type { Product, ProductKinds } from './wire.ts'

const product = fieldsOf<Product, ProductKinds>()
const text = (made: { toString(): string }) => made.toString()

describe('the builder', () => {
  const cases: readonly [Condition<Product>, string][] = [
    [product.list_price.gt(10), 'list_price>10'],
    [product.name.contains('bolt'), 'name*bolt'],
    [product.name.eq('null'), 'name="null"'],
    [product.default_code.eq(null), 'default_code=null'],
    [product.default_code.ne(''), 'default_code!=""'],
    [product.name.notContains('a & b'), 'name!*"a & b"'],
    [product.id.in([1, 2, 3n]), 'id[1,2,3]'],
    [product.default_code.notIn(['a,b', null]), 'default_code!["a,b",null]'],
    [product.list_price.lte('0.12345678901234567890'), 'list_price<=0.12345678901234567890'],
    [product.active.eq(false), 'active=false'],
    [product.write_date.gte(new Date(Date.UTC(2026, 0, 2))), 'write_date>=2026-01-02T00:00:00.000Z'],
    [product.write_date.lt('2026-01-02'), 'write_date<2026-01-02'],
    [product.id.gt(1).and(product.id.lt(9), product.active.eq(true)), 'id>1&id<9&active=true'],
    [product.id.eq(1).or(product.id.eq(2)).and(product.active.eq(true)), '(id=1|id=2)&active=true'],
    [product.id.eq(1).and(product.active.eq(true)).or(product.id.eq(2)), 'id=1&active=true|id=2'],
  ]
  for (const [condition, expected] of cases) it(expected, () => expect(text(condition)).toBe(expected))

  it('refuses what is no value', () => {
    expect(() => product.id.eq(Number.NaN)).toThrow('NaN is no value for a filter.')
    expect(() => product.id.in([])).toThrow('is empty')
    expect(() => product.name.eq('\ud800')).toThrow('surrogate')
    expect(() => product.write_date.eq(new Date('never'))).toThrow('invalid Date')
    // @ts-expect-error: what a caller without types may do.
    expect(() => product.name.eq(undefined)).toThrow('undefined is no value')
  })
})

describe('the template', () => {
  const cases: readonly [{ toString(): string }, string][] = [
    [filter`name=${'5" & more'}`, 'name="5\\" & more"'],
    [filter`name=${'null'}&default_code=${null}`, 'name="null"&default_code=null'],
    [
      filter`id[${[1, 2]}]&active = ${true} | list_price >= ${1.5}`,
      'id[1,2]&active = true | list_price >= 1.5',
    ],
    [filter`id[1,${2},${[3, 4]}]`, 'id[1,2,3,4]'],
    [filter`default_code![${['a', null]}]`, 'default_code!["a",null]'],
    [filter`(name*${'x'} | id=${1})&active=true`, '(name*"x" | id=1)&active=true'],
    [filter`write_date>${new Date(0)}`, 'write_date>1970-01-01T00:00:00.000Z'],
    [filter`${filter`id=1|id=2`}&active=true`, '(id=1|id=2)&active=true'],
    [filter`active=true&${product.id.gt(5)}`, 'active=true&(id>5)'],
    [filter`active=true`, 'active=true'],
    // A whole filter alone, whose `)` would end a group.
    [filter`active=true&${filter`name*:)`}`, 'active=true&(name*":)")'],
    [filter`active=true&${filter`name*:)|name=a`}`, 'active=true&(name*":)"|name=a)'],
  ]
  for (const [made, expected] of cases) it(expected, () => expect(text(made)).toBe(expected))

  it('refuses a value where none can stand, rather than to change what is asked', () => {
    expect(() => filter`name="${'x'}"`).toThrow('Value 1 of the filter cannot stand there')
    expect(() => filter`name="a=${'x'}`).toThrow('it is within another value')
    expect(() => filter`name=abc${'x'}`).toThrow('it is within another value')
    expect(() => filter`id=${5}0`).toThrow('text follows it directly')
    expect(() => filter`${'name'}=x`).toThrow('text follows it directly')
    expect(() => filter`active=true&${'name'}`).toThrow('a value needs a field')
    expect(() => filter`id=${[1, 2]}`).toThrow('a list goes between brackets')
    expect(() => filter`id[${[]}]`).toThrow('the list is empty')
    expect(() => filter`name=${filter`id=1`}`).toThrow('a whole filter is no value')
    expect(() => filter`name ${'x'}`).toThrow('no operator stands before it')
    expect(() => filter`id=1&${filter`id=(`}&${filter`id[1`}`).toThrow(
      'Value 2 of the filter is a filter that is not right itself: ',
    )
  })
})

describe('a filter within another', () => {
  const piece = fc.constantFrom(
    'name',
    '*',
    '=',
    ':)',
    '(',
    ')',
    '&',
    '|',
    '"',
    '\\',
    ' ',
    'a',
    '[',
    ']',
    ',',
    '5',
  )
  const texts = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''))

  it('means there what it means alone', () => {
    fc.assert(
      fc.property(texts, (inner) => {
        let alone: Filter
        try {
          alone = parse(inner)
        } catch {
          return
        }
        const whole = parse(filter`id=1&${new FilterText(inner)}`.toString())
        expect(whole.kind === 'and' && whole.terms[1] && print(whole.terms[1])).toBe(print(alone))
      }),
      { numRuns: 20_000 },
    )
  })
})

/** Whatever a text holds, the parser finds one condition with exactly that text. */
describe('any text is one value', () => {
  const reserved = [
    '&',
    '|',
    ',',
    '(',
    ')',
    '[',
    ']',
    '"',
    '\\',
    '=',
    '!',
    '*',
    '<',
    '>',
    ' ',
    '\t',
    '\r',
    '\n',
    '\0',
    '%',
    '+',
    '#',
    'null',
    'true',
    '\u00a0',
    '\u3000',
    '𝄞',
    '\u202e',
  ]
  const any = fc.string({
    unit: fc.oneof(fc.constantFrom(...reserved), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
  })
  const valuesOf = (made: { toString(): string }): readonly Value[] => {
    const tree = parse(made.toString())
    if (tree.kind !== 'condition') throw new Error('more than one condition')
    return tree.values
  }

  it('by template and builder', () => {
    fc.assert(
      fc.property(any, (value) => {
        const expected = [{ kind: 'text', text: value }]
        expect(valuesOf(filter`name=${value}`)).toMatchObject(expected)
        expect(valuesOf(product.name.eq(value))).toMatchObject(expected)
      }),
      { numRuns: 5_000 },
    )
  })

  it('in lists', () => {
    fc.assert(
      fc.property(fc.array(any, { minLength: 1 }), (values) => {
        const expected = values.map((one) => ({ kind: 'text', text: one }))
        expect(valuesOf(filter`name[${values}]`)).toMatchObject(expected)
        expect(valuesOf(product.name.in(values))).toMatchObject(expected)
      }),
    )
  })
})
