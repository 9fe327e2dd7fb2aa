import { describe, expect, it } from 'vitest'
import { parse } from './parse.ts'
import { print } from './print.ts'

describe('print', () => {
  it.each([
    [' name = blue bolt ', 'name=blue bolt'],
    ['name=', 'name=""'],
    ['name=a\\&b', 'name="a&b"'],
    ['name="plain"', 'name=plain'],
    ['name="null"', 'name="null"'],
    ['name = null', 'name=null'],
    ['name=" a"', 'name=" a"'],
    ['name="a "', 'name="a "'],
    ['name=\\"\\\\', 'name="\\"\\\\"'],
    ['name="a\nb"', 'name="a\nb"'],
    ['name>"=5"', 'name>"=5"'],
    ['name=:)', 'name=":)"'],
    ['id[ 1 , "2,3" , null ]', 'id[1,"2,3",null]'],
    ['id![ 1 ]', 'id![1]'],
    ['((a=1))', 'a=1'],
    ['(a=1&b=2)|c=3', 'a=1&b=2|c=3'],
    ['a=1&(b=2&c=3)', 'a=1&(b=2&c=3)'],
    ['(a=1|b=2)|c=3', '(a=1|b=2)|c=3'],
    ['a=1 & ( b=2 | c=3 )', 'a=1&(b=2|c=3)'],
    ['write_date>=2026-11-14T09:30:00.000Z', 'write_date>=2026-11-14T09:30:00.000Z'],
  ])('%s', (text, canonical) => expect(print(parse(text))).toBe(canonical))
})
