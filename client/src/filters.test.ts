import { type Filter, parse, print, type Value } from '@quartermaster/filter'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Condition, fieldsOf } from './condition.ts'
import { FilterText, filter } from './template.ts'
import type { Product, ProductKinds } from './wire.ts'

const product = fieldsOf<Product, ProductKinds>()
const text = (filterOrCondition: { toString(): string }) => filterOrCondition.toString()

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

  it('rejects values that a filter cannot express', () => {
    expect(() => product.id.eq(Number.NaN)).toThrow('NaN is not a filter value.')
    expect(() => product.id.in([])).toThrow('is empty')
    expect(() => product.name.eq('\ud800')).toThrow('surrogate')
    expect(() => product.write_date.eq(new Date('never'))).toThrow('invalid Date')
    // @ts-expect-error: a JavaScript caller could do this.
    expect(() => product.name.eq(undefined)).toThrow('undefined is not a filter value')
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
    // A complete filter whose `)` would end the group.
    [filter`active=true&${filter`name*:)`}`, 'active=true&(name*":)")'],
    [filter`active=true&${filter`name*:)|name=a`}`, 'active=true&(name*":)"|name=a)'],
  ]
  for (const [template, expected] of cases) it(expected, () => expect(text(template)).toBe(expected))

  it('rejects a value in a position where it would change the meaning of the filter', () => {
    expect(() => filter`name="${'x'}"`).toThrow('Value 1 of the filter is not allowed here')
    expect(() => filter`name="a=${'x'}`).toThrow('it is within another value')
    expect(() => filter`name=abc${'x'}`).toThrow('it is within another value')
    expect(() => filter`id=${5}0`).toThrow('text follows it directly')
    expect(() => filter`${'name'}=x`).toThrow('text follows it directly')
    expect(() => filter`active=true&${'name'}`).toThrow('a value needs a field')
    expect(() => filter`id=${[1, 2]}`).toThrow('a list must be between brackets')
    expect(() => filter`id[${[]}]`).toThrow('the list is empty')
    expect(() => filter`name=${filter`id=1`}`).toThrow('a filter is not a value')
    expect(() => filter`name ${'x'}`).toThrow('there is no operator before it')
    expect(() => filter`id=1&${filter`id=(`}&${filter`id[1`}`).toThrow(
      'Value 2 of the filter is an invalid filter: ',
    )
  })
})

describe('a filter inserted into another', () => {
  const part = fc.constantFrom(
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
  const texts = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(''))

  it('preserves its meaning', () => {
    fc.assert(
      fc.property(texts, (inner) => {
        let parsed: Filter
        try {
          parsed = parse(inner)
        } catch {
          return
        }
        const outer = parse(filter`id=1&${new FilterText(inner)}`.toString())
        expect(outer.kind === 'and' && outer.terms[1] && print(outer.terms[1])).toBe(print(parsed))
      }),
      { numRuns: 20_000 },
    )
  })
})

/** Property: any string is parsed back as one condition with exactly that value. */
describe('any string is one value', () => {
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
  const valuesOf = (filterOrCondition: { toString(): string }): readonly Value[] => {
    const tree = parse(filterOrCondition.toString())
    if (tree.kind !== 'condition') throw new Error('more than one condition')
    return tree.values
  }

  it('in templates and the builder', () => {
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
