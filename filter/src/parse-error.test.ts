import { describe, expect, it } from 'vitest'
import { FilterError, type FilterProblem } from './error.ts'
import { type FilterBounds, filterBounds, parse } from './parse.ts'

function problemOf(text: string, bounds?: FilterBounds): FilterProblem {
  try {
    parse(text, bounds)
  } catch (error) {
    if (error instanceof FilterError) return error.problem
    throw error
  }
  throw new Error(`"${text}" was parsed without an error.`)
}

const term = ['a field name', '"("']
const operator = ['"="', '"!="', '"*"', '"!*"', '">"', '">="', '"<"', '"<="', '"["', '"!["']
const inList = ['","', '"]"']
const inGroup = ['"&"', '"|"', '")"']
const atTop = ['"&"', '"|"', 'the end of the filter']
const none = undefined

type Case = [text: string, at: [number, number], expected: string[], suggestion: string | undefined]

function rejects(code: FilterProblem['code'], cases: Case[]): void {
  describe(code, () => {
    it.each(cases)('%s', (text, [offset, length], expected, suggestion) => {
      const { message, ...problem } = problemOf(text)
      expect(problem).toEqual({
        code,
        offset,
        length,
        expected,
        ...(suggestion !== undefined && { suggestion }),
      })
      expect(message).toMatch(/^[A-Z].*\.$/s)
    })
  })
}

rejects('filter_empty', [
  ['', [0, 0], term, none],
  [' \t\r\n', [0, 4], term, none],
])

rejects('filter_field_expected', [
  ['a=1&&b=2', [4, 1], term, 'a=1&b=2'],
  ['a=1 || b=2', [5, 1], term, 'a=1 | b=2'],
  ['a=1&&&b=2', [4, 1], term, 'a=1&b=2'],
  ['a=1&', [4, 0], term, 'a=1'],
  ['a=1|  ', [6, 0], term, 'a=1  '],
  ['(a=1&)|b=2', [5, 1], term, '(a=1)|b=2'],
  ['&a=1', [0, 1], term, 'a=1'],
  ['(|a=1)', [1, 1], term, '(a=1)'],
  ['a=1&|b=2', [4, 1], term, none],
  ['&', [0, 1], term, none],
  ['()', [1, 1], term, none],
  [')', [0, 1], term, none],
  ['=5', [0, 1], term, none],
  ['5a=1', [0, 2], term, none],
  ['"name"=x', [0, 6], term, 'name=x'],
  ['a=1&,', [4, 1], term, none],
  ['a=1&[', [4, 1], term, none],
  ['a=1&🔩=2', [4, 2], term, none],
])

rejects('filter_operator_expected', [
  ['name', [4, 0], operator, none],
  ['name&a=1', [4, 1], operator, none],
  ['list_price 10', [11, 2], operator, none],
  ['name like bolt', [5, 4], operator, 'name * bolt'],
  ['name!bolt', [4, 1], operator, none],
  ['categ_id.name=x', [8, 5], operator, none],
  ['(name)', [5, 1], operator, none],
  ['naïve=1', [2, 3], operator, none],
])

rejects('filter_quote_unclosed', [
  ['name="bolt', [5, 5], ['a closing quote'], 'name="bolt"'],
  ['name="', [5, 1], ['a closing quote'], 'name=""'],
  ['name="bolt  ', [5, 7], ['a closing quote'], 'name="bolt"  '],
  ['(name="bolt)', [6, 6], ['a closing quote'], '(name="bolt")'],
  ['name["a","b]', [9, 3], ['a closing quote'], 'name["a","b"]'],
  ['(name["a', [6, 2], ['a closing quote'], '(name["a"])'],
  ['((id=1|name["a ] )', [12, 6], ['a closing quote'], '((id=1|name["a" ] ))'],
  // The quote could be closed in two positions.
  ['name="bolt&active=true', [5, 17], ['a closing quote'], none],
  ['name["a,b]', [5, 5], ['a closing quote'], none],
  ['name["a]b]', [5, 5], ['a closing quote'], none],
  ['(name="f(x)', [6, 5], ['a closing quote'], none],
  ['name="bolt\\"', [5, 7], ['a closing quote'], none],
])

rejects('filter_escape_unfinished', [
  ['name=a\\', [6, 1], ['a character after the backslash'], 'name=a\\\\'],
  ['name="a\\', [7, 1], ['a character after the backslash'], 'name="a\\\\"'],
  ['name="C:\\temp"', [8, 2], ['"\\\\"', '"\\""'], 'name="C:\\\\temp"'],
  ['name="a\\b\\\\c\\"d\\e"&id=1', [7, 2], ['"\\\\"', '"\\""'], 'name="a\\\\b\\\\c\\"d\\\\e"&id=1'],
  ['id=1&name["\\🔩"]', [11, 2], ['"\\\\"', '"\\""'], 'id=1&name["\\\\🔩"]'],
])

rejects('filter_list_unclosed', [
  ['id[1,2', [6, 0], inList, 'id[1,2]'],
  ['id[1,2&active=true', [6, 1], inList, 'id[1,2]&active=true'],
  ['id[1,2|id![3]', [6, 1], inList, 'id[1,2]|id![3]'],
  ['(id[1,2)', [7, 1], inList, '(id[1,2])'],
  ['(id[1,"2")|id[3]', [9, 1], inList, '(id[1,"2"])|id[3]'],
  ['name[R&D,QA]', [6, 1], inList, 'name[R\\&D,QA]'],
  ['(name[:),x])', [7, 1], inList, '(name[:\\),x])'],
  ['name[a,b&active=true]', [8, 1], inList, none],
  ['id[', [3, 0], ['a value'], none],
  ['id[1,', [5, 0], ['a value'], none],
  ['id[1,&a=2', [5, 1], ['a value'], none],
  ['(id[)', [4, 1], ['a value'], none],
])

rejects('filter_list_value_empty', [
  ['name[a,,b]', [7, 1], ['a value'], 'name[a,"",b]'],
  ['name[]', [5, 1], ['a value'], 'name[""]'],
  ['name![ ]', [7, 1], ['a value'], 'name![ ""]'],
  ['name[,a]', [5, 1], ['a value'], 'name["",a]'],
  ['name[a,]', [7, 1], ['a value'], 'name[a,""]'],
])

rejects('filter_group_unclosed', [
  ['(a=1', [4, 0], inGroup, '(a=1)'],
  ['((a=1)&(b=2', [11, 0], inGroup, '((a=1)&(b=2))'],
  ['(name=f(x)', [10, 0], inGroup, '(name=f(x))'],
  ['(a[1] ', [6, 0], inGroup, '(a[1] )'],
])

rejects('filter_unexpected', [
  ['name="a"b', [8, 1], atTop, none],
  ['name="a" "b"', [9, 3], atTop, none],
  ['name="5" pipe"', [9, 5], atTop, none],
  ['name="a"]', [8, 1], atTop, none],
  ['name="a",b=1', [8, 1], atTop, none],
  ['name[a[0],b]', [9, 1], atTop, none],
  ['(a=1)(b=2)', [5, 1], atTop, none],
  ['(a=1))', [5, 1], atTop, '(a=1)'],
  ['name="a" ) )', [9, 1], atTop, 'name="a" '],
  ['a="1"|b="2")&c="3"', [11, 1], atTop, none],
  ['name="a" and active=true', [9, 3], atTop, 'name="a" & active=true'],
  ['id[1] OR (id=2 | id=3)', [6, 2], atTop, 'id[1] | (id=2 | id=3)'],
  ['(name="a" or name="b")', [10, 2], inGroup, '(name="a" | name="b")'],
  ['(name="a" b)', [10, 1], inGroup, none],
  ['(name="a",b=1)', [9, 1], inGroup, none],
  ['name["a"b]', [8, 1], inList, none],
  ['name["a" and "b"]', [9, 3], inList, none],
  ['name["a")', [8, 1], inList, none],
])

function repeated(count: number, separator: string, part: string): string {
  return Array(count).fill(part).join(separator)
}

describe('limits', () => {
  it('accepts 200 conditions and no more', () => {
    expect(parse(repeated(200, '&', 'a=1'))).toMatchObject({ kind: 'and' })
    expect(problemOf(repeated(201, '&', 'a=1'))).toEqual({
      code: 'filter_too_many_conditions',
      message: 'A filter can have at most 200 conditions; this one exceeds the limit at offset 800.',
      offset: 800,
      length: 1,
      expected: ['at most 200 conditions'],
    })
  })

  it('accepts 1000 values in all lists together and no more', () => {
    expect(parse(`a[${repeated(400, ',', '1')}]|b![${repeated(600, ',', '1')}]`)).toMatchObject({
      kind: 'or',
    })
    expect(problemOf(`a[${repeated(400, ',', '1')}]|b![${repeated(601, ',', '1')}]`)).toEqual({
      code: 'filter_too_many_values',
      message:
        'A filter can have at most 1000 values in all its lists together; this one exceeds the limit at offset 2006.',
      offset: 2006,
      length: 1,
      expected: ['at most 1000 values in all its lists together'],
    })
  })

  it('accepts 32 levels of parentheses and no more', () => {
    expect(parse(`${'('.repeat(32)}a=1${')'.repeat(32)}`)).toMatchObject({ kind: 'condition' })
    expect(problemOf(`${'('.repeat(33)}a=1${')'.repeat(33)}`)).toMatchObject({
      code: 'filter_too_deep',
      offset: 32,
      length: 1,
      expected: ['at most 32 levels of parentheses'],
    })
    expect(problemOf('('.repeat(65_000))).toMatchObject({ code: 'filter_too_deep', offset: 32 })
    expect(parse(repeated(100, '|', '(a=1)'))).toMatchObject({ kind: 'or' })
  })

  it('accepts 65,536 bytes and no more', () => {
    expect(parse(`a=${'x'.repeat(65_534)}`)).toMatchObject({ kind: 'condition' })
    expect(problemOf(`a=${'x'.repeat(65_536)}`)).toEqual({
      code: 'filter_too_long',
      message: 'A filter can have at most 65536 bytes of UTF-8; this one exceeds the limit at offset 65536.',
      offset: 65_536,
      length: 2,
      expected: ['at most 65536 bytes of UTF-8'],
    })
  })

  it('counts bytes, not characters', () => {
    const bounds = { ...filterBounds, lengthMax: 8 }
    expect(parse('a=🔩éx', { ...filterBounds, lengthMax: 9 })).toMatchObject({ kind: 'condition' })
    expect(problemOf('a=🔩éx', bounds)).toMatchObject({ code: 'filter_too_long', offset: 5, length: 1 })
    expect(problemOf('a=xxxxxé', bounds)).toMatchObject({ code: 'filter_too_long', offset: 7, length: 1 })
  })

  it('suggests no filter that exceeds a limit', () => {
    expect(problemOf('(a=1', { ...filterBounds, lengthMax: 4 })).not.toHaveProperty('suggestion')
  })
})

it('suggests nothing for a filter of more than 4,096 characters', () => {
  expect(problemOf(`(a=${'x'.repeat(4093)}`)).toHaveProperty('suggestion')
  expect(problemOf(`(a=${'x'.repeat(4094)}`)).not.toHaveProperty('suggestion')
})

describe('messages', () => {
  it.each([
    ['', 'The filter is empty. Leave it out, or write a condition.'],
    ['a=1&&b=2', 'Expected a field name at the start of a condition, but found "&". Write a single "&".'],
    ['&a=1', 'Expected a field name at the start of a condition, but found "&".'],
    ['name="a" And id=1', 'Expected "&", "|", or the end of the filter, but found "And". Write & instead.'],
    ['name["a" or "b"]', 'Expected "," or "]", but found "or".'],
    [
      'name LIKE bolt',
      'Expected an operator after the field name "name", but found "LIKE". Write * instead.',
    ],
    ['id in (1,2)', 'Expected an operator after the field name "id", but found "in". Write [a,b] instead.'],
    [
      'not (a=1)',
      'Expected an operator after the field name "not", but found "(". ' +
        'The language has no "not": write !=, !* or ![a,b] in the condition.',
    ],
    ['name', 'Expected an operator after the field name "name", but found the end of the filter.'],
    [
      '(a=1',
      'The parenthesis that opens at offset 0 is not closed: expected ")", but found the end of the filter.',
    ],
    ['(a=1))', 'Expected "&", "|", or the end of the filter, but found ")".'],
    [
      'id[1&a=2',
      'The list that opens at offset 2 is not closed: expected "," or "]", but found "&". ' +
        'Put a value that contains "&", "|" or ")" in quotes.',
    ],
    [
      `name="a"${'🔩'.repeat(40)}`,
      `Expected "&", "|", or the end of the filter, but found "${'🔩'.repeat(24)}…".`,
    ],
  ])('%s', (text, message) => expect(problemOf(text).message).toBe(message))
})
