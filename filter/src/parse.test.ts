import { describe, expect, it } from 'vitest'
import type { Filter, Value } from './ast.ts'
import { parse } from './parse.ts'

/** A tree without spans, short enough to write by hand: `['and', 'a = 1', …]`. Null is `∅`. */
type Shape = string | [string, ...Shape[]]

function shape(filter: Filter): Shape {
  if (filter.kind !== 'condition') return [filter.kind, ...filter.terms.map(shape)]
  return `${filter.field.text} ${filter.operator} ${filter.values.map(plain).join('¦')}`
}

function plain(value: Value): string {
  return value.kind === 'null' ? '∅' : value.text
}

describe('operators', () => {
  it.each([
    ['name=bolt', 'name = bolt'],
    ['name!=bolt', 'name != bolt'],
    ['name*bolt', 'name * bolt'],
    ['name!*bolt', 'name !* bolt'],
    ['list_price>10', 'list_price > 10'],
    ['list_price>=10', 'list_price >= 10'],
    ['list_price<10', 'list_price < 10'],
    ['list_price<=10', 'list_price <= 10'],
    ['id[1,2,3]', 'id [] 1¦2¦3'],
    ['id![1,2,3]', 'id ![] 1¦2¦3'],
    ['id[7]', 'id [] 7'],
    // The longest operator matches; the rest is the value.
    ['name==bolt', 'name = =bolt'],
    ['name=>5', 'name = >5'],
    ['name>"=5"', 'name > =5'],
    ['name*!x', 'name * !x'],
    ['_a9Z=1', '_a9Z = 1'],
  ])('%s', (text, expected) => expect(shape(parse(text))).toEqual(expected))
})

describe('joining and grouping', () => {
  it.each<[string, Shape]>([
    ['a=1&b=2&c=3', ['and', 'a = 1', 'b = 2', 'c = 3']],
    ['a=1|b=2|c=3', ['or', 'a = 1', 'b = 2', 'c = 3']],
    ['a=1|b=2&c=3', ['or', 'a = 1', ['and', 'b = 2', 'c = 3']]],
    ['a=1&b=2|c=3', ['or', ['and', 'a = 1', 'b = 2'], 'c = 3']],
    ['(a=1|b=2)&c=3', ['and', ['or', 'a = 1', 'b = 2'], 'c = 3']],
    ['a=1&(b=2&c=3)', ['and', 'a = 1', ['and', 'b = 2', 'c = 3']]],
    ['(a=1|b=2)|c=3', ['or', ['or', 'a = 1', 'b = 2'], 'c = 3']],
    ['((a=1))', 'a = 1'],
    ['(a[1,2])', 'a [] 1¦2'],
  ])('%s', (text, expected) => expect(shape(parse(text))).toEqual(expected))
})

describe('unquoted values', () => {
  it.each<[string, Shape]>([
    ['name=blue bolt', 'name = blue bolt'],
    ['name=', 'name = '],
    ['name=&a=1', ['and', 'name = ', 'a = 1']],
    ['(name=)', 'name = '],
    ['name=a,b]', 'name = a,b]'],
    ['name=5" pipe', 'name = 5" pipe'],
    ['name=a\\&b\\|c', 'name = a&b|c'],
    ['name=\\"a"', 'name = "a"'],
    ['name=a\\\\', 'name = a\\'],
    ['name=a\\ ', 'name = a '],
    ['name=\\ a', 'name =  a'],
    ['name=\\\n', 'name = \n'],
    ['name[a\\,b,c\\]]', 'name [] a,b¦c]'],
    ['name[a[0]', 'name [] a[0'],
    ['name=grün 🔩', 'name = grün 🔩'],
    ['name=\u00a0x\u00a0', 'name = \u00a0x\u00a0'],
  ])('%s', (text, expected) => expect(shape(parse(text))).toEqual(expected))
})

describe('parentheses in unquoted values', () => {
  it.each<[string, Shape]>([
    ['name=foo(bar)', 'name = foo(bar)'],
    ['name=:)', 'name = :)'],
    ['name[:),:(]', 'name [] :)¦:('],
    ['(name=foo(bar))', 'name = foo(bar)'],
    ['(name=(a)(b))', 'name = (a)(b)'],
    ['(name=a\\))', 'name = a)'],
    ['(name=a\\(b)', 'name = a(b'],
    ['(name[f(x),y])', 'name [] f(x)¦y'],
    ['(name=f(x&b=1)', ['and', 'name = f(x', 'b = 1']],
    ['(name=a)&b=c)', ['and', 'name = a', 'b = c)']],
  ])('%s', (text, expected) => expect(shape(parse(text))).toEqual(expected))
})

describe('quoted values', () => {
  it.each<[string, Shape]>([
    ['name=""', 'name = '],
    ['name="a&b|c"', 'name = a&b|c'],
    ['name="a \\"b\\" \\\\c"', 'name = a "b" \\c'],
    ['name=" a "', 'name =  a '],
    ['name="a\nb"', 'name = a\nb'],
    ['(name="a)")', 'name = a)'],
    ['name["a,b","c]"]', 'name [] a,b¦c]'],
    ['name="a" & b="c"', ['and', 'name = a', 'b = c']],
  ])('%s', (text, expected) => expect(shape(parse(text))).toEqual(expected))
})

describe('null', () => {
  it.each<[string, Shape]>([
    ['categ_id=null', 'categ_id = ∅'],
    ['categ_id!= null ', 'categ_id != ∅'],
    ['categ_id[1,null]', 'categ_id [] 1¦∅'],
    ['name*null', 'name * ∅'],
    ['(categ_id=null)', 'categ_id = ∅'],
    ['name="null"', 'name = null'],
    ['name=\\null', 'name = null'],
    ['name=nul\\l', 'name = null'],
    ['name=NULL', 'name = NULL'],
    ['name=nullable', 'name = nullable'],
  ])('%s', (text, expected) => expect(shape(parse(text))).toEqual(expected))
})

it('ignores white space around tokens', () => {
  const text = '\t( a\n=\r1 | b ![ x , "y" ] )\n&\tc >= 3 '
  expect(shape(parse(text))).toEqual(['and', ['or', 'a = 1', 'b ![] x¦y'], 'c >= 3'])
})

it('gives every node its span in the text', () => {
  expect(parse('(a = "x") & b![ 1 , null]')).toEqual({
    kind: 'and',
    offset: 0,
    length: 25,
    terms: [
      {
        kind: 'condition',
        offset: 1,
        length: 7,
        field: { text: 'a', offset: 1, length: 1 },
        operator: '=',
        operatorSpan: { offset: 3, length: 1 },
        values: [{ kind: 'text', text: 'x', offset: 5, length: 3 }],
      },
      {
        kind: 'condition',
        offset: 12,
        length: 13,
        field: { text: 'b', offset: 12, length: 1 },
        operator: '![]',
        operatorSpan: { offset: 13, length: 2 },
        values: [
          { kind: 'text', text: '1', offset: 16, length: 1 },
          { kind: 'null', offset: 20, length: 4 },
        ],
      },
    ],
  })
})

it('positions a missing value directly after its operator', () => {
  expect(parse('a>=  &b=1')).toMatchObject({
    terms: [{ length: 3, values: [{ text: '', offset: 3, length: 0 }] }, {}],
  })
})

it('freezes the tree', () => {
  const filter = parse('a=1&b[2]')
  expect(Object.isFrozen(filter)).toBe(true)
  expect(filter.kind === 'and' && filter.terms.every((term) => Object.isFrozen(term))).toBe(true)
})
