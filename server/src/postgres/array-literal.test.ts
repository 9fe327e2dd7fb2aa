import { expect, it } from 'vitest'
import { arrayLiteral } from './array-literal.ts'

it.each([
  [[], '{}'],
  [[1, -2.5, null, true], '{1,-2.5,null,true}'],
  [['', 'null', 'a,b', '{}', ' ', 'ü\n'], '{"","null","a,b","{}"," ","ü\n"}'],
  [['"', '\\', 'a"b\\"c'], '{"\\"","\\\\","a\\"b\\\\\\"c"}'],
])('%j is %s', (elements, literal) => {
  expect(arrayLiteral(elements)).toBe(literal)
})
